import type { OpenEngine } from "./flow-engine.ts";

/** OpenWorkflow in the data folder, or DBOS when processes share a PostgreSQL database. Loaded when it is opened. */
export function chooseEngine({ dataDir, database }: { dataDir: string; database?: string | undefined }): OpenEngine {
  return async (options) => {
    if (database !== undefined) return (await import("./dbos.ts")).openDbos(database, options);
    return (await import("./openworkflow.ts")).openOpenWorkflow(dataDir, options);
  };
}
