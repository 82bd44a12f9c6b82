import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as sqlite from "node:sqlite";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createCatalog } from "../../../src/service/catalog/catalog.ts";
import {
  createExecutionLog,
  type ExecutionLog,
  type LoggedCall,
} from "../../../src/service/executions/execution-log.ts";
import { createRunningReads } from "../../../src/service/executions/running-reads.ts";
import type { LogRecord } from "../../../src/service/executions/write-records.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { openStore, type Store } from "../../../src/service/store/open-store.ts";
import type { ExecutionRow } from "../../../src/service/store/schema.ts";
import { toStoreError } from "../../../src/service/store/store-errors.ts";
import { createLab } from "../lab-integration.ts";

let folder: string;
let store: Store;
let log: ExecutionLog;
/** Statements of one write are in it as they were compiled; a soft one begins with a pragma. */
let softWrites: () => number;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-log-"));
  store = await openStore(join(folder, "svc.db"));
  log = createExecutionLog(store, Date.now);
  const prepared = vi.spyOn(sqlite.DatabaseSync.prototype, "prepare");
  softWrites = () => prepared.mock.calls.filter(([text]) => text === "pragma synchronous = normal").length;
});
afterEach(async () => {
  vi.restoreAllMocks();
  await store.destroy();
  await rm(folder, { recursive: true, force: true });
});

const catalog = createCatalog([createLab().integration]);

function ask(toolName: string): LoggedCall {
  const entry = catalog.find(toolName);
  if (entry === undefined) throw new Error(`There is no ${toolName}.`);
  return { principal: { accountId: "acc_1", apiKeyId: "key_1" }, entry, connectionId: "con_1", arguments: { a: 1 } };
}
const read = ask("lab_look");
const write = ask("lab_put");

async function readLog() {
  const rows = await store.selectFrom("executions").select(["status", "output"]).orderBy("started_at").execute();
  const days = await store.selectFrom("usage_days").select("executions").execute();
  return { rows, counted: days.reduce((sum, { executions }) => sum + executions, 0) };
}

describe("a read", () => {
  test("is counted and written once, soon after it has ended, and waits for no disk", async () => {
    const { id } = await log.start(read);
    expect(await readLog()).toEqual({ rows: [], counted: 0 });
    await log.succeed(id, "7");
    expect(await readLog()).toEqual({ rows: [], counted: 0 });
    await expect.poll(readLog).toEqual({ rows: [{ status: "succeeded", output: "7" }], counted: 1 });
    expect(softWrites()).toBe(1);
  });

  test("is found as soon as it has ended, and written with those that ended beside it", async () => {
    const ids = await Promise.all([read, read, read].map(async (one) => (await log.start(one)).id));
    for (const id of ids) await log.succeed(id, "7");
    expect(await log.find("acc_1", ids[1] ?? "")).toMatchObject({ status: "succeeded", output: "7" });
    expect(await readLog()).toMatchObject({ counted: 3 });
    expect(softWrites()).toBe(1);
  });

  test("that runs for long stands in the log meanwhile, and gets its end there", async () => {
    const { id } = await log.start(read);
    await expect.poll(readLog).toEqual({ rows: [{ status: "started", output: null }], counted: 1 });
    await log.fail(id, new ServiceError(503, "timeout", "No."));
    await log.flush();
    expect(await readLog()).toMatchObject({ rows: [{ status: "failed" }], counted: 1 });
    expect(softWrites()).toBe(2);
  });

  test("that ended while its start could not be written is written whole", async () => {
    const began = Promise.withResolvers<void>();
    const start = Promise.withResolvers<void>();
    const written: LogRecord[] = [];
    const reads = createRunningReads({
      write: () => {
        began.resolve();
        return start.promise;
      },
      writeEnd: async (record) => void written.push(record),
      onLost: (error) => expect.unreachable(String(error)),
    });
    const end = { id: "exe_1", status: "succeeded", output: "7", error: null, finished_at: "" } as const;
    await reads.begin({ id: "exe_1", status: "started" } as ExecutionRow, { atOnce: false });
    await began.promise;
    expect(reads.end(end)).toBe(true);
    start.reject(new Error("The store is away."));
    await expect.poll(() => written.at(-1)).toMatchObject({ row: end });
  });

  test("is counted before it runs where there is a limit", async () => {
    const limited = createExecutionLog(store, Date.now, { usageLimit: 2 });
    const started = await Promise.allSettled([read, read, read].map((one) => limited.start(one)));
    expect(started.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    expect(started[2]).toMatchObject({ reason: { code: "usage_limit_reached" } });
    expect(await readLog()).toMatchObject({ counted: 2 });
  });

  test("is refused at its start while the log cannot be written; the end of an earlier one is written later", async () => {
    const { id } = await log.start(read);
    const full = Object.assign(new Error("database or disk is full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    const away = vi.spyOn(store, "connection").mockImplementation(() => {
      throw toStoreError(full);
    });
    await log.succeed(id, "7");
    await log.flush();
    await expect(log.start(read)).rejects.toMatchObject({ code: "database_unavailable" });
    expect(await readLog()).toEqual({ rows: [], counted: 0 });
    away.mockRestore();
    await log.settle();
    expect(await readLog()).toEqual({ rows: [{ status: "succeeded", output: "7" }], counted: 1 });
  });
});

describe("a write", () => {
  test("is on disk before it acts and before it is answered, also beside reads", async () => {
    const { id: readId } = await log.start(read);
    await log.succeed(readId, "7");
    const [{ id }] = await Promise.all([log.start(write), log.flush()]);
    expect(await readLog()).toMatchObject({ counted: 2 });
    await log.succeed(id, "8");
    expect((await readLog()).rows).toContainEqual({ status: "succeeded", output: "8" });
    expect(softWrites()).toBe(0);
  });

  test("fails alone when its own part cannot be written; 40 others at once share few transactions", async () => {
    const commits = vi.spyOn(store, "transaction");
    const starts = Array.from({ length: 41 }, (_, index) =>
      log.start(write, async () => {
        if (index === 7 && commits.mock.calls.length > 1) throw new ServiceError(409, "taken", "No.");
        if (index === 7) throw new Error("first");
      }),
    );
    const results = await Promise.allSettled(starts);
    expect(results.flatMap(({ status }, index) => (status === "rejected" ? [index] : []))).toEqual([7]);
    expect(results[7]).toMatchObject({ reason: { code: "taken" } });
    expect(await readLog()).toMatchObject({ counted: 40 });
    const ids = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.id] : []));
    commits.mockClear();
    await Promise.all(ids.map((id) => log.succeed(id, JSON.stringify(id))));
    expect(commits).toHaveBeenCalledTimes(1);
    const { rows } = await readLog();
    expect(rows.map(({ output }) => output).sort()).toEqual(ids.map((id) => JSON.stringify(id)).sort());
  });
});
