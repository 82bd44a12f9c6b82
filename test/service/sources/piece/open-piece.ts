import { vi } from "vitest";
import { openSourceDesk } from "../../../../src/service/sources/open-source-desk.ts";
import { preparePiece } from "../../../../src/service/sources/piece/prepare-piece.ts";
import { startTestService } from "../../../../src/testing.ts";
import { startMockApi } from "../openapi/mock-api.ts";
import { startRegistry } from "./start-registry.ts";

/** A piece to add, and the host of its provider that the mock stands in for. */
export interface OpenedPiece {
  readonly piece: string;
  readonly host: string;
  readonly settings: Readonly<Record<string, string>>;
}

/** An answer of the service. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer of any route, looked at by tests
  readonly body: any;
}

/** A service with pieces installed from a local registry, their providers being one local server. */
export async function openPieces(
  folders: readonly string[],
  pieces: readonly OpenedPiece[],
  options: Parameters<typeof startTestService>[0] = {},
) {
  const api = await startMockApi();
  const registry = await startRegistry(folders);
  const service = await startTestService(options);
  const desk = await openSourceDesk({ dataDir: service.dataDir });

  const prepare = (piece: string, more: object = {}) =>
    preparePiece({
      piece,
      slug: piece,
      version: undefined,
      name: undefined,
      hosts: {},
      isPrivate: false,
      dataDir: service.dataDir,
      env: registry.env,
      signal: AbortSignal.timeout(120_000),
      ...more,
    });

  async function ask(path: string, body?: unknown): Promise<Answer> {
    const response = await fetch(service.url + path, {
      headers: { "x-svc-api-key": service.apiKey, "content-type": "application/json" },
      ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  }

  const listTools = async (slug: string): Promise<string[]> =>
    (await ask(`/api/tools?integration=${slug}&limit=200`)).body.tools.map(({ name }: { name: string }) => name);

  for (const { piece, host, settings } of pieces) {
    const { source } = await prepare(piece, { hosts: { [host]: new URL(api.url).origin }, isPrivate: true });
    await desk.add(source, { connection: { label: source.name, settings } });
    await vi.waitUntil(async () => (await listTools(piece)).length > 0, { timeout: 30_000, interval: 100 });
  }

  return {
    api,
    service,
    desk,
    registry,
    prepare,
    ask,
    listTools,
    call: (tool: string, args: object = {}, more: object = {}) =>
      ask(`/api/tools/${tool}/execute`, { arguments: args, ...more }),
    write: (tool: string, args: object = {}, more: object = {}) =>
      ask(`/api/tools/${tool}/execute`, { arguments: args, confirmed: true, ...more }),
    async close() {
      await desk.close();
      await service.close();
      await registry.close();
      await api.close();
    },
  };
}
