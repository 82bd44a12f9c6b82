import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { type OpenService, openService } from "../../../src/service/open-service.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { waitForTool } from "../added/wait-for-tool.ts";
import { execute } from "../http-calls.ts";

/** An added MCP server that only one of two nodes can start. */

const SECRET = "one text of 32 letters for all nodes";

let postgres: TestPostgres;
let folder: string;
let database: string;
const services: OpenService[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  folder = await mkdtemp(join(tmpdir(), "svc-nodes-"));
  database = await postgres.createDatabase();
}, 60_000);

afterAll(async () => {
  for (const service of services) await service.close();
  await postgres.stop();
  await rm(folder, { recursive: true, force: true });
});

async function open(name: string) {
  const place = { dataDir: join(folder, name), files: join(folder, "files"), database, port: 0, heartbeatMs: 300 };
  const service = await openService({ ...place, secretKey: SECRET });
  services.push(service);
  const { apiKey } = await service.keys.issue({ accountId: service.accountId, label: "Test", client: null });
  return { url: service.url, apiKey, service };
}

/** Every state that a connection takes from now on, however short it lasts. */
async function watchStates({ store }: OpenService): Promise<() => Promise<string[]>> {
  await sql`CREATE TABLE past_states (state text)`.execute(store);
  await sql`CREATE FUNCTION note_state() RETURNS trigger LANGUAGE plpgsql
    AS 'BEGIN INSERT INTO past_states VALUES (NEW.state); RETURN NEW; END'`.execute(store);
  await sql`CREATE TRIGGER note_state AFTER UPDATE ON connections
    FOR EACH ROW EXECUTE FUNCTION note_state()`.execute(store);
  const read = sql<{ state: string }>`SELECT state FROM past_states`;
  return async () => (await read.execute(store)).rows.map(({ state }) => state);
}

test("an app added beside one node reaches all; the node that can start it has the last word on how it does", async () => {
  const able = await open("able");
  const unable = await open("unable");
  const script = fileURLToPath(new URL("../../apps/mcp/fixture-server.ts", import.meta.url));
  const definition = { transport: "stdio", command: process.execPath, args: [script, folder], env: ["TOKEN"] } as const;
  const place = { slug: "shelf", name: undefined, definition: { ...definition, trusted: true } };
  const settings = { TOKEN: "token-of-the-shelf" };
  const { source } = await prepareMcp(place, settings, AbortSignal.timeout(30_000));
  const admin = await openSourceAdmin({ dataDir: join(folder, "able"), database, secretKey: SECRET });
  await admin.add(source, { connection: { label: "Shelf", settings } });
  await admin.close();
  for (const node of [able, unable]) await waitForTool(node, "shelf_look");
  expect((await execute(able, "shelf_look")).status).toBe(200);

  await writeFile(join(folder, "broken"), "");
  const readState = async () => (await able.service.connections.list("shelf"))[0]?.state;
  const readPast = await watchStates(able.service);
  const failed = await execute(unable, "shelf_look");
  expect(failed.json.error).toMatchObject({ code: "provider_unavailable", retryable: true });
  await vi.waitFor(async () => expect(await readPast()).toContain("error"), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await readState()).toBe("healthy"), { timeout: 30_000, interval: 200 });
  expect((await execute(unable, "shelf_look")).json.error.code).toBe("provider_unavailable");
  expect(await readState()).toBe("healthy");
  expect((await execute(able, "shelf_look")).status).toBe(200);

  await rm(join(folder, "broken"));
  await vi.waitFor(async () => expect((await execute(unable, "shelf_look")).status).toBe(200), { timeout: 30_000 });
}, 90_000);
