import { afterAll, beforeAll } from "vitest";
import { chooseEngine } from "../../../../src/service/flows/engines/choose-engine.ts";
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
