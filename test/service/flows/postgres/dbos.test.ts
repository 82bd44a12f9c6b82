import { afterAll, beforeAll, expect, test } from "vitest";
import { chooseEngine } from "../../../../src/service/flows/engines/choose-engine.ts";
import { openDbos } from "../../../../src/service/flows/engines/dbos.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { describeFlows } from "../flow-suite.ts";

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
