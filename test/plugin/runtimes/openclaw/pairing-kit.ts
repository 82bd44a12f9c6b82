import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { HostAuthContext, HostAuthResult } from "../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import { pairWithHost } from "../../../../src/plugin/runtimes/openclaw/setup/pair-method.ts";
import { type SvcHost, shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { createFakeApi, createStateFolder, type FakeHost } from "./fake-api.ts";

/** What a sign-in screen showed and asked. */
export interface PlayedScreen {
  readonly context: HostAuthContext;
  readonly notes: string[];
  readonly opened: string[];
  readonly questions: string[];
  /** Links a person can open, in the order they were shown. */
  readonly links: () => string[];
}

/** A service, and hosts that pair with it. */
export interface PairingKit {
  readonly service: TestService;
  readonly folder: ReturnType<typeof createStateFolder>;
  host(fake?: FakeHost): SvcHost;
  /** Runs a sign-in; `act` is what happens in the browser each time the plugin waits. */
  pair(host: SvcHost, screen: PlayedScreen, act?: (link: string) => void | Promise<void>): Promise<HostAuthResult>;
  close(): Promise<void>;
}

/** Starts the kit. */
export async function openPairingKit(): Promise<PairingKit> {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-pairing-"));
  const service = await startTestService({ dataDir });
  const folder = createStateFolder();
  const hosts: SvcHost[] = [];
  return {
    service,
    folder,
    host(fake = {}) {
      const host = shareHost(createFakeApi(fake).api, folder.environment);
      hosts.push(host);
      return host;
    },
    pair: (host, screen, act = (link) => service.decide(link)) =>
      pairWithHost(host, screen.context, { sleep: async () => act(screen.links().at(-1) ?? "") }),
    async close() {
      for (const host of hosts) await host.close();
      await service.close();
      folder.remove();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A sign-in screen that records; `more` replaces members of its context. */
export function playScreen(
  more: Partial<HostAuthContext> = {},
  answer: (initial: string) => string = (initial) => initial,
): PlayedScreen {
  const notes: string[] = [];
  const opened: string[] = [];
  const questions: string[] = [];
  const context: HostAuthContext = {
    config: {},
    openUrl: async (url) => void opened.push(url),
    prompter: {
      note: async (message) => void notes.push(message),
      text: async ({ message, initialValue = "" }) => {
        questions.push(`${message} [${initialValue}]`);
        return answer(initialValue);
      },
      progress: () => ({ update: () => undefined, stop: () => undefined }),
    },
    ...more,
  };
  const links = () => [...opened, ...notes].flatMap((text) => text.match(/https?:\/\/\S+\/pair\/[\w-]+/g) ?? []);
  return { context, notes, opened, questions, links };
}
