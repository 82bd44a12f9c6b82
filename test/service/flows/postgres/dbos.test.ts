import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { chooseEngine } from "../../../../src/service/flows/engines/choose-engine.ts";
import { openDbos } from "../../../../src/service/flows/engines/dbos.ts";
import { openStore } from "../../../../src/service/store/open-store.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { describeFlows } from "../flow-suite.ts";
import { runSegments } from "../run-segments.ts";

let postgres: TestPostgres;
let database: string;
beforeAll(async () => {
  postgres = await startPostgres();
  database = await postgres.createDatabase();
});
afterAll(() => postgres.stop());

describeFlows("DBOS", (dataDir) => chooseEngine({ dataDir, database }));

test("a process runs one such engine at a time", async () => {
  const options = { run: async () => {}, runner: "node_a", onFault() {} };
  const engine = await openDbos(database, options);
  await expect(openDbos(database, options)).rejects.toMatchObject({ code: "invalid_config", field: "database" });
  await engine.close();
  await (await openDbos(database, options)).close();
});

test("segments that ended are forgotten with their steps, and those that run are not", async () => {
  const own = await postgres.createDatabase();
  const store = await openStore(own);
  const hold = Promise.withResolvers<void>();
  const { ended, engine } = await runSegments((o) => openDbos(own, o), hold.promise);
  const list = async (table: string) =>
    (await sql<{ status?: string }>`select * from ${sql.table(`svc_flows.${table}`)}`.execute(store)).rows;
  await ended;
  await expect
    .poll(async () => (await list("workflow_status")).filter(({ status }) => status === "SUCCESS"))
    .toHaveLength(150);
  await engine.forget(new Date(Date.now() - 60_000));
  expect(await list("workflow_status")).toHaveLength(151);
  await engine.forget(new Date(Date.now() + 60_000));
  expect(await list("workflow_status")).toHaveLength(1);
  expect(await list("operation_outputs")).toHaveLength(0);
  hold.resolve();
  await engine.close();
  await store.destroy();
});
