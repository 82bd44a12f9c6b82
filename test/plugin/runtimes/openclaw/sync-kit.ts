import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostApi, HostConfig } from "../../../../src/plugin/runtimes/openclaw/host/host-api.ts";

import { type SvcHost, shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { findFreePort } from "../../../service/free-port.ts";
import { createFakeApi, createStateFolder, type Recorded } from "./fake-api.ts";
import type { ManyApp } from "./many-actions.ts";

/** A paired host and a service whose apps a test exchanges. */
export interface SyncKit {
  readonly host: SvcHost;
  readonly api: HostApi;
  readonly recorded: Recorded;
  readonly service: TestService;
  /** The host's configuration as it was written last. */
  readonly config: { current: HostConfig };
  /** Starts the service again, at the same address and with the same accounts, with these apps. */
  offer(...apps: readonly ManyApp[]): Promise<void>;
  /** Stops the service until the next {@link SyncKit.offer}. */
  stopService(): Promise<void>;
  close(): Promise<void>;
}

/** Starts a service with these apps, connected, and pairs a host with it. */
export async function openSyncKit(apps: readonly ManyApp[], config: HostConfig = {}): Promise<SyncKit> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-sync-"));
  const port = await findFreePort();
  let service = await serve(dataDir, port, apps);
  const folder = createStateFolder();
  const fake = createFakeApi({ pluginConfig: { baseUrl: service.url, apiKey: service.apiKey } });
  const written = { current: config };
  const api = withConfig(fake.api, written);
  const host = shareHost(api, folder.environment);
  return {
    host,
    api,
    recorded: fake.recorded,
    get service() {
      return service;
    },
    config: written,
    async offer(...next) {
      await service.close();
      service = await serve(dataDir, port, next);
    },
    stopService: () => service.close(),
    async close() {
      await host.close();
      await service.close();
      folder.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function serve(dataDir: string, port: number, apps: readonly ManyApp[]): Promise<TestService> {
  const integrations = apps.map(({ integration }) => integration);
  const service = await startTestService({ dataDir, port, integrations });
  const { connections } = service.service;
  for (const { slug } of integrations) {
    if ((await connections.list(slug)).length > 0) continue;
    await connections.add({ integration: slug, label: `${slug} account`, settings: {}, scopes: [] });
  }
  return service;
}

/** Writes like the host: the draft is a copy, and what was changed in it counts. */
function withConfig(api: HostApi, written: { current: HostConfig }): HostApi {
  return {
    ...api,
    runtime: {
      ...api.runtime,
      config: {
        current: () => written.current,
        async mutateConfigFile({ mutate }) {
          const draft = structuredClone(written.current) as Record<string, unknown>;
          mutate(draft);
          written.current = draft;
        },
      },
    },
  };
}
