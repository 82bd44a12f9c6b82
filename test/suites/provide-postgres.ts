import type { TestProject } from "vitest/node";
import { openStore } from "../../src/service/store/open-store.ts";
import { startPostgres } from "./start-postgres.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the server of this run. */
    postgresUrl: string;
    /** A database with the tables of a service and nothing in them, to be copied. */
    postgresTables: string;
  }
}

/** Starts one server for the files of the suite that runs the service's tests on PostgreSQL. */
export default async function providePostgres(project: TestProject): Promise<() => Promise<void>> {
  const server = await startPostgres();
  const tables = await server.createDatabase();
  await (await openStore(tables)).destroy();
  project.provide("postgresUrl", server.url);
  project.provide("postgresTables", tables);
  return () => server.stop();
}
