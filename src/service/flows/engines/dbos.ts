import { SvcError } from "../../../errors.ts";
import type { EngineOptions, FlowEngine, SegmentInput } from "./flow-engine.ts";

/** Schema of the engine's own tables, beside those of the service. */
const SCHEMA = "svc_flows";
/** Processes that run the same segments; the engine hands a segment only to one of the same version. */
const VERSION = "svc-segments-1";
const POOL_SIZE = 5;
/** A step that is under way when the service stops gets this long. */
const GRACE_MS = 60_000;
const ENDED = ["SUCCESS", "ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED"] as const;
/** Segments that are forgotten in one go. */
const BATCH = 100;

/** The library keeps its state in the module, so one process can run one engine. */
let isOpen = false;

/**
 * Runs segments on DBOS over PostgreSQL, for processes that share the flows.
 *
 * @throws SvcError `invalid_config`: this process runs such an engine already.
 */
export async function openDbos(databaseUrl: string, options: EngineOptions): Promise<FlowEngine> {
  const { DBOS } = await import("@dbos-inc/dbos-sdk");
  if (isOpen) {
    throw new SvcError("invalid_config", "This process runs flows on PostgreSQL already.", {
      field: "database",
      hint: "Start the second service in a process of its own.",
    });
  }
  isOpen = true;
  const close = async () => {
    await DBOS.shutdown({ workflowCompletionTimeoutMS: GRACE_MS, deregister: true });
    isOpen = false;
  };
  const engine: FlowEngine = {
    async start(key, input) {
      await DBOS.startWorkflow(segment, { workflowID: key })(input);
    },
    step: (name, run) => DBOS.runStep(run, { name }),
    async cancel(key) {
      const found = await DBOS.getWorkflowStatus(key);
      // One that runs, here or elsewhere, stops by itself: cut off, it could not record what it did.
      if (found?.status === "ENQUEUED") await DBOS.cancelWorkflow(key);
    },
    async takeOver(key) {
      const found = await DBOS.getWorkflowStatus(key);
      if (found === null || found.status === "SUCCESS" || found.status === "ERROR") return false;
      if (found.status !== "ENQUEUED") await DBOS.resumeWorkflow(key);
      return true;
    },
    async forget(endedBefore) {
      const completedBefore = endedBefore.toISOString();
      const ended = { status: [...ENDED], completedBefore, limit: BATCH, loadInput: false, loadOutput: false };
      for (;;) {
        const ids = (await DBOS.listWorkflows(ended)).map(({ workflowID }) => workflowID);
        if (ids.length === 0) return;
        await DBOS.deleteWorkflows(ids);
      }
    },
    close,
  };
  const segment = DBOS.registerWorkflow((input: SegmentInput) => options.run(input, engine), { name: "segment" });
  try {
    DBOS.setConfig(createConfig(databaseUrl, options));
    await DBOS.launch();
  } catch (cause) {
    await close().catch(() => {});
    throw cause;
  }
  return engine;
}

/** Without the name of its process an engine would continue what another process is running. */
function createConfig(databaseUrl: string, { runner, onFault }: EngineOptions) {
  const silent = () => {};
  const report = (entry: unknown) => onFault("The flow engine reports a problem.", entry);
  return {
    name: "svc",
    systemDatabaseUrl: databaseUrl,
    systemDatabaseSchemaName: SCHEMA,
    systemDatabasePoolSize: POOL_SIZE,
    applicationVersion: VERSION,
    executorID: runner,
    logger: { info: silent, debug: silent, warn: silent, error: report },
  };
}
