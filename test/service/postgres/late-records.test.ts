import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import { createExecutionLog, type ExecutionLog } from "../../../src/service/executions/execution-log.ts";
import { createIdempotencyKeys } from "../../../src/service/executions/idempotency-keys.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import { startPostgres, type TestPostgres } from "../../suites/start-postgres.ts";
import { ledgerIntegration } from "./ledger-integration.ts";

let postgres: TestPostgres;
let direct: Store;
let store: Store;
let proxy: Server;
/** Loses the connection when the server has carried out the next statement that holds this text. */
let loseAfter: string | undefined;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());

beforeEach(async () => {
  const database = await postgres.createDatabase();
  loseAfter = undefined;
  proxy = await startProxy(Number(new URL(database).port));
  const address = proxy.address();
  const port = typeof address === "object" ? address?.port : undefined;
  direct = await openStore(database);
  store = await openStore(database.replace(/:\d+\//, `:${port}/`));
});
afterEach(async () => {
  await Promise.all([direct.destroy(), store.destroy()]);
  proxy.close();
});

async function startProxy(target: number): Promise<Server> {
  const server = createServer((client) => {
    const upstream = connect(target, "127.0.0.1");
    let isLost = false;
    client.on("data", (bytes) => {
      if (loseAfter !== undefined && bytes.includes(loseAfter)) {
        isLost = true;
        loseAfter = undefined;
      }
      upstream.write(bytes);
    });
    upstream.on("data", (bytes) => {
      if (isLost) client.destroy();
      else client.write(bytes);
    });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on("close", () => other.destroy()).on("error", () => other.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

const entry = createCatalog([ledgerIntegration]).find("ledger_write");
if (entry === undefined) throw new Error("The ledger has no such tool.");
const call: Parameters<ExecutionLog["start"]>[0] = {
  principal: { accountId: "acc_1", apiKeyId: "key_1" },
  entry,
  connectionId: "con_1",
  arguments: { text: "a" },
};
const readRows = () => direct.selectFrom("executions").select(["status", "output", "error"]).execute();

test("a start whose answer was lost is not run, is closed as refused, and frees its idempotency key", async () => {
  const log = createExecutionLog(store, Date.now);
  const keys = createIdempotencyKeys(store, Date.now);
  const use = { accountId: "acc_1", key: "k", inputHash: "h" };
  loseAfter = "commit";
  const start = log.start(call, (transaction, id) => keys.claim(transaction, use, id));
  await expect(start).rejects.toMatchObject({ status: 503, code: "database_unavailable" });
  expect(await readRows()).toMatchObject([{ status: "started" }]);
  expect(await keys.find("acc_1", "k")).toBeDefined();

  await log.settle();
  expect(await readRows()).toMatchObject([
    { status: "refused", error: expect.stringContaining("database_unavailable") },
  ]);
  expect(await keys.find("acc_1", "k")).toBeUndefined();
  await log.start(call, (transaction, id) => keys.claim(transaction, use, id));
});

test("an end that could not be written is written later, and the caller gets the result meanwhile", async () => {
  const log = createExecutionLog(store, Date.now);
  const { id } = await log.start(call);
  loseAfter = "update";
  await expect(log.succeed(id, '"done"')).resolves.toMatch(/Z$/);
  await direct.updateTable("executions").set({ status: "started", output: null }).execute();
  await log.settle();
  expect(await readRows()).toMatchObject([{ status: "succeeded", output: '"done"' }]);
});
