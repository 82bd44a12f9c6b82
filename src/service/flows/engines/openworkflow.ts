import { AsyncLocalStorage } from "node:async_hooks";
import { closeSync, constants, openSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { OpenWorkflow } from "openworkflow";
import type { EngineOptions, FlowEngine, SegmentInput } from "./flow-engine.ts";

/** SQLite file of the engine below the data folder. Losing it loses no flow. */
const ENGINE_FILE = "flows.db";
/** Segments that run at one time. */
const CONCURRENCY = 8;
/** Segments that are forgotten in one go, with their steps. */
const BATCH = 100;
const ENDED = "status NOT IN ('pending', 'running')";
const SPEC = { name: "segment" };

type StepApi = Parameters<Parameters<OpenWorkflow["implementWorkflow"]>[1]>[0]["step"];

/** Runs segments on OpenWorkflow over a SQLite file, for a process that has the data folder to itself. */
export async function openOpenWorkflow(dataDir: string, options: EngineOptions): Promise<FlowEngine> {
  const library = await import("openworkflow");
  const { backend, database } = await openBackend(join(dataDir, ENGINE_FILE), options.onFault);
  const client = new library.OpenWorkflow({ backend });
  const current = new AsyncLocalStorage<StepApi>();
  let isClosed = false;

  /** Asked for after each start and each end, instead of polling the file all day. */
  const claim = () => {
    if (isClosed) return;
    worker.tick().catch((cause) => options.onFault("Segments could not be claimed.", cause));
  };
  const engine: FlowEngine = {
    async start(key, input) {
      await client.runWorkflow<SegmentInput, null>(SPEC, input, { idempotencyKey: key });
      claim();
    },
    async step<T extends string>(name: string, run: () => Promise<T>) {
      const step = current.getStore();
      if (step === undefined) throw new TypeError("A step runs only inside a segment.");
      return step.run<T>({ name, retryPolicy: { maximumAttempts: 1 } }, run);
    },
    async cancel(key) {
      database.prepare(`DELETE FROM workflow_runs WHERE idempotency_key = ? AND status = 'pending'`).run(key);
    },
    async takeOver(key) {
      const find = `SELECT 1 FROM workflow_runs WHERE idempotency_key = ? AND status IN ('pending', 'running') LIMIT 1`;
      if (database.prepare(find).get(key) === undefined) return false;
      claim();
      return true;
    },
    async forget(endedBefore) {
      const old = `SELECT rowid FROM workflow_runs WHERE ${ENDED} AND updated_at < ? LIMIT ${BATCH}`;
      const forgetOld = database.prepare(`DELETE FROM workflow_runs WHERE rowid IN (${old})`);
      while (!isClosed && Number(forgetOld.run(endedBefore.toISOString()).changes) > 0) await nextTurn();
    },
    async close() {
      isClosed = true;
      await worker.stop();
      await backend.stop();
    },
  };
  client.implementWorkflow<SegmentInput, null>(SPEC, async ({ input, step }) => {
    await current.run(step, () => options.run(input, engine));
    // The slot of this run is free only after it has returned.
    setImmediate(claim);
    return null;
  });
  const worker = client.newWorker({ concurrency: CONCURRENCY });
  return engine;
}

/** Opens the file; one that is damaged is put aside, because the flows do not depend on it. */
async function openBackend(file: string, onFault: EngineOptions["onFault"]) {
  try {
    return await connect(file);
  } catch (cause) {
    if (!isDamage(cause)) throw cause;
    onFault(`The file of the flow engine was damaged and is now ${file}.damaged.`, cause);
    for (const suffix of ["-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
    renameSync(file, `${file}.damaged`);
    return await connect(file);
  }
}

/** SQLITE_CORRUPT and SQLITE_NOTADB, not a full disk or a file without permission. */
function isDamage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return ("errcode" in error && (error.errcode === 11 || error.errcode === 26)) || isDamage(error.cause);
}

/** The package sets no busy timeout, and takes over what a dead process ran only after 30 s; here it is known to be dead. */
async function connect(file: string) {
  const { BackendSqlite } = await import("openworkflow/sqlite");
  closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  const backend = BackendSqlite.connect(file);
  // biome-ignore lint/complexity/useLiteralKeys: the member is private in TypeScript, and there is no other way to its settings
  const database = backend["db"];
  database.exec("PRAGMA busy_timeout=5000; PRAGMA synchronous=NORMAL");
  const now = new Date().toISOString();
  database.prepare(`UPDATE workflow_runs SET worker_id = NULL, available_at = ? WHERE status = 'running'`).run(now);
  database.prepare(`DELETE FROM workflow_runs WHERE ${ENDED}`).run();
  return { backend, database };
}
