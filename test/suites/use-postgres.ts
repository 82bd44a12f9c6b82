import { afterAll, inject } from "vitest";
import { testDefaults } from "../../src/service/test-kit/start-test-service.ts";
import { useServer } from "./start-postgres.ts";

/**
 * Makes `startTestService` keep its data in a PostgreSQL database: a fresh one for every data folder, dropped after the
 * test file. Its tables are there; the suites in folders named `postgres` start with an empty one.
 */
const server = useServer(inject("postgresUrl"), async () => {});
/** Short, as tests wait until a killed process is known to be dead. */
const HEARTBEAT_MS = 300;
const databases = new Map<string, Promise<string>>();

testDefaults.forFolder = async (dataDir) => {
  const database = databases.get(dataDir) ?? server.createDatabase(inject("postgresTables"));
  databases.set(dataDir, database);
  return { database: await database, heartbeatMs: HEARTBEAT_MS };
};

afterAll(() => server.stop());
