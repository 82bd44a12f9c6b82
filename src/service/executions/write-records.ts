import { type CompiledQuery, sql } from "kysely";
import { ServiceError } from "../service-error.ts";
import { inSoftTransaction, isShared, type Store } from "../store/open-store.ts";
import type { ExecutionRow } from "../store/schema.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { createTogetherWriter } from "./write-together.ts";

/** Does its own writes together with the row of an execution. */
export type OnStart = (transaction: Store, executionId: string) => Promise<void>;

/** How an execution ended. */
export type ExecutionEnd = Pick<ExecutionRow, "id" | "status" | "output" | "error" | "finished_at">;

/** One change of the log: an execution that is counted, running or with its end, or the end of one that has its row. */
export type LogRecord = { readonly isSoft: boolean } & (
  | { readonly row: ExecutionRow; readonly onStart?: OnStart | undefined }
  | { readonly end: ExecutionEnd }
);

/**
 * Writes records; those of one turn, and those that come while a write is under way, share a transaction and one wait for
 * the disk. Only soft records do without that wait; see `inSoftTransaction`. A promise settles when its record is written.
 *
 * @throws ServiceError 402 `usage_limit_reached`, 503 `database_unavailable`, and errors of `onStart`: then nothing of this
 *   record is written.
 */
export type WriteRecord = (record: LogRecord) => Promise<void>;

/** Most records in one transaction: while it lasts, nobody else is served on a SQLite file. */
const MAX_TOGETHER = 64;

/** Creates the writer of one process. */
export function createRecordWriter(store: Store, usageLimit: number | undefined): WriteRecord {
  const statements = createStatements(store);

  async function write(records: readonly LogRecord[], transaction: Store): Promise<void> {
    const starts = records.flatMap((record) => ("row" in record ? [record] : []));
    for (const { executions } of await statements.count(transaction, countDays(starts.map(({ row }) => row)))) {
      if (usageLimit !== undefined && executions > usageLimit) throw usageLimitReached(usageLimit);
    }
    await statements.insert(
      transaction,
      starts.map(({ row }) => row),
    );
    for (const { row, onStart } of starts) await onStart?.(transaction, row.id);
    await statements.end(
      transaction,
      records.flatMap((record) => ("end" in record ? [record.end] : [])),
    );
  }

  return createTogetherWriter<LogRecord>(
    async (records) => {
      const work = (transaction: Store) => write(records, transaction);
      const isSoft = records.every((record) => record.isSoft);
      await (isSoft ? inSoftTransaction(store, work) : store.transaction().execute(work));
    },
    // When the connection broke, some of them may be written.
    { maxItems: MAX_TOGETHER, isFinal: (error) => isShared(store) && isStoreUnavailable(error) },
  );
}

/** The refusal of an account that has no executions left on this day. */
export function usageLimitReached(limit: number): ServiceError {
  return new ServiceError(402, "usage_limit_reached", `All ${limit} executions of this day are used.`, {
    type: "billing",
    hint: "The count starts again at 00:00 UTC; the owner of the service can raise `usageLimit`.",
  });
}

type Day = Pick<ExecutionRow, "account_id"> & { readonly day: string; readonly executions: number };

function countDays(rows: readonly ExecutionRow[]): Day[] {
  const days = new Map<string, Day>();
  for (const { account_id, started_at } of rows) {
    const day = started_at.slice(0, 10);
    const key = `${account_id} ${day}`;
    days.set(key, { account_id, day, executions: (days.get(key)?.executions ?? 0) + 1 });
  }
  return [...days.values()];
}

const ROW = [
  "id",
  "account_id",
  "api_key_id",
  "connection_id",
  "integration",
  "action_id",
  "tool_name",
  "side_effect_level",
  "arguments",
  "status",
  "output",
  "error",
  "started_at",
  "finished_at",
  "node_id",
  "permission",
  "waits_until",
] as const satisfies (keyof ExecutionRow)[];
const END = ["id", "status", "output", "error", "finished_at"] as const satisfies (keyof ExecutionEnd)[];

function createStatements(store: Store) {
  return {
    /** Gives the new counts. */
    count: createRowsStatement(["account_id", "day", "executions"], (days: readonly Day[]) =>
      store
        .insertInto("usage_days")
        .values([...days])
        .onConflict((c) =>
          c
            .columns(["account_id", "day"])
            .doUpdateSet((e) => ({ executions: e("usage_days.executions", "+", e.ref("excluded.executions")) })),
        )
        .returning("executions")
        .compile(),
    ),
    /** A row that is there already, because a connection broke after it was written, gets the end of this one. */
    insert: createRowsStatement(ROW, (rows: readonly ExecutionRow[]) =>
      store
        .insertInto("executions")
        .values([...rows])
        .onConflict((c) =>
          c.column("id").doUpdateSet((e) => ({
            status: e.ref("excluded.status"),
            output: e.ref("excluded.output"),
            error: e.ref("excluded.error"),
            finished_at: e.ref("excluded.finished_at"),
          })),
        )
        .compile(),
    ),
    end: createRowsStatement(END, (ends: readonly ExecutionEnd[]) =>
      sql<never>`
        with ends(id, status, output, error, finished_at) as (values ${sql.join(
          ends.map((end) => sql`(${sql.join(END.map((column) => end[column]))})`),
        )})
        update executions
        set status = ends.status, output = ends.output, error = ends.error, finished_at = ends.finished_at
        from ends where executions.id = ends.id`.compile(store),
    ),
  };
}

/** Rows in one statement: few numbers, so that few statements are compiled. */
const SIZES = [16, 4, 1];

/** A statement about rows, with their columns in this order, that is built and compiled once for each of a few numbers. */
function createRowsStatement<Row extends object, Result>(
  columns: readonly (keyof Row)[],
  compile: (rows: readonly Row[]) => CompiledQuery<Result>,
): (transaction: Store, rows: readonly Row[]) => Promise<Result[]> {
  const compiled = new Map<number, CompiledQuery<Result>>();
  return async (transaction, rows) => {
    const results: Result[] = [];
    let at = 0;
    for (const size of SIZES) {
      for (; rows.length - at >= size; at += size) {
        const some = rows.slice(at, at + size);
        const known = compiled.get(size) ?? compile(some.map((row) => pick(row, columns)));
        compiled.set(size, known);
        const parameters = some.flatMap((row) => columns.map((column) => row[column]));
        const { rows: given } = await transaction.executeQuery<Result>({ ...known, parameters });
        results.push(...given);
      }
    }
    return results;
  };
}

/** The same row with its columns in this order. */
function pick<Row extends object>(row: Row, columns: readonly (keyof Row)[]): Row {
  return Object.fromEntries(columns.map((column) => [column, row[column]])) as Row;
}
