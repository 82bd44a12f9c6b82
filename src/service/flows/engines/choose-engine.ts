import { createRequire } from "node:module";
import { SvcError } from "../../../errors.ts";
import type { OpenEngine } from "./flow-engine.ts";

const DBOS = "@dbos-inc/dbos-sdk";

/**
 * OpenWorkflow in the data folder, or DBOS when processes share a PostgreSQL database. Loaded when it is opened.
 *
 * @param resolve finds an installed package, or throws.
 * @throws SvcError `invalid_config`, field `database`, when DBOS is needed and not installed.
 */
export function chooseEngine(
  { dataDir, database }: { dataDir: string; database?: string | undefined },
  resolve: (name: string) => unknown = createRequire(import.meta.url).resolve,
): OpenEngine {
  if (database === undefined) {
    return async (options) => (await import("./openworkflow.ts")).openOpenWorkflow(dataDir, options);
  }
  try {
    resolve(DBOS);
  } catch (cause) {
    throw new SvcError("invalid_config", `Flows on PostgreSQL need the package ${DBOS}, which is not installed.`, {
      field: "database",
      hint: `Install it beside this package: npm install ${DBOS}@5`,
      cause,
    });
  }
  return async (options) => (await import("./dbos.ts")).openDbos(database, options);
}
