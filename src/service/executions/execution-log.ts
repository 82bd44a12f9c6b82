import { type ExpressionBuilder, sql } from "kysely";
import { hideCredential } from "../../shared/base/credential-name.ts";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { createId } from "../../shared/base/ids.ts";
import type { Principal } from "../auth/api-keys.ts";
import { type CatalogEntry, levelOf } from "../catalog/catalog-entry.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ExecutionRow, Tables } from "../store/schema.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { notBegun } from "./delays.ts";
import { createLateRecords } from "./late-records.ts";
import { shortenArguments, storeError } from "./outcome.ts";
import type { Permission } from "./permission.ts";
import { createRunningReads } from "./running-reads.ts";
import { createRecordWriter, type ExecutionEnd, type OnStart, usageLimitReached } from "./write-records.ts";

/** A call as it enters the log. */
export interface LoggedCall {
  readonly principal: Principal;
  readonly entry: LoggedAction;
  /** Null when none was chosen yet. */
  readonly connectionId: string | null;
  readonly arguments: unknown;
  /** Who or what lets it run; none for a call that does not run. */
  readonly permission?: Permission;
  /** ISO 8601: it acts then, unless it is stopped. Default: at once. */
  readonly waitsUntil?: string | undefined;
}

/** Facts of an action that the log keeps. */
interface LoggedAction extends Pick<CatalogEntry, "toolName" | "raised"> {
  readonly integration: Pick<CatalogEntry["integration"], "slug">;
  readonly action: Pick<CatalogEntry["action"], "id" | "level">;
}

interface LogOptions {
  readonly usageLimit?: number | undefined;
  readonly nodeId?: string | undefined;
  readonly onLost?: (error: unknown) => void;
}

/** Rows of everything that ran. */
export type ExecutionLog = ReturnType<typeof createExecutionLog>;

/**
 * Creates the log of one process.
 *
 * @param o `usageLimit`: executions per account and UTC day, default no limit; `nodeId`: the process that runs what this log
 *   starts, as named in `nodes`; without one, rows are open until somebody closes them; `onLost`: told of a read that has ended
 *   and cannot be written
 */
export function createExecutionLog(
  store: Store,
  now: () => number,
  { usageLimit, nodeId, onLost = () => {} }: LogOptions = {},
) {
  const at = () => new Date(now()).toISOString();
  const write = createRecordWriter(store, usageLimit);
  const late = createLateRecords(store, write, at);
  const reads = createRunningReads({ write, writeEnd: late.end, onLost });

  async function finish(id: string, how: Pick<ExecutionEnd, "status"> & Partial<ExecutionEnd>): Promise<string> {
    const end = { output: null, error: null, ...how, id, finished_at: at() };
    if (!reads.end(end)) await late.end({ end, isSoft: false });
    return end.finished_at;
  }

  return {
    /** @throws ServiceError 402 `usage_limit_reached` when today's executions are used up. */
    async checkUsage(accountId: string): Promise<void> {
      if (usageLimit === undefined) return;
      const today = await store
        .selectFrom("usage_days")
        .select("executions")
        .where("account_id", "=", accountId)
        .where("day", "=", at().slice(0, 10))
        .executeTakeFirst();
      if ((today?.executions ?? 0) >= usageLimit) throw usageLimitReached(usageLimit);
    },

    /**
     * Counts the execution and writes its row, so that a crash while the provider acts leaves a trace: it is on disk when the
     * promise resolves. A read without `onStart` is counted and written when it has ended, or takes long, and nobody waits for
     * that; where there is a limit, and while ends of others wait for the store, it is written before it runs, too.
     *
     * @param onStart runs in the transaction that writes the row; when it throws, nothing is written or counted.
     * @throws ServiceError 402 `usage_limit_reached`, 503 `database_unavailable`, and errors of `onStart`.
     */
    async start(call: LoggedCall, onStart?: OnStart): Promise<{ id: string; startedAt: string }> {
      const started = { status: "started" as const, started_at: at(), node_id: nodeId ?? null };
      const row: ExecutionRow = { ...createRow(call), ...started };
      const isRead = row.side_effect_level === "read" && onStart === undefined;
      try {
        if (isRead) await reads.begin(row, { atOnce: usageLimit !== undefined || late.isBehind() });
        else await write({ row, onStart, isSoft: false });
      } catch (error) {
        if (isStoreUnavailable(error)) late.doubt(row.id, error);
        throw error;
      }
      return { id: row.id, startedAt: row.started_at };
    },

    /** The end of a write is on disk when the promise resolves, or kept for later when the store is away: see `settle`. */
    succeed: (id: string, output: string) => finish(id, { status: "succeeded", output }),
    fail: (id: string, error: ServiceError) => finish(id, { status: "failed", error: storeError(error) }),

    /**
     * Writes a finished row for a call that was refused before anything ran; it is not counted. Of long arguments it
     * keeps only the part that the log shows.
     *
     * @param db the store, or a transaction of it
     */
    async refuse(call: LoggedCall, error: ServiceError, db = store): Promise<{ id: string; startedAt: string }> {
      const time = at();
      const ended = { status: "refused" as const, started_at: time, finished_at: time };
      const kept = { arguments: shortenArguments(call.arguments), error: storeError(error) };
      const row: ExecutionRow = { ...createRow({ ...call, arguments: null }), ...ended, ...kept };
      await db.insertInto("executions").values(row).execute();
      return { id: row.id, startedAt: time };
    },

    /** One execution of an account. */
    async find(accountId: string, id: string): Promise<ExecutionRow | undefined> {
      await reads.flush();
      const rows = store.selectFrom("executions").selectAll().where("id", "=", id);
      return rows.where("account_id", "=", accountId).executeTakeFirst();
    },

    ...createPastCalls(store, reads.flush),
    /** Resolves when every read that has ended is in the log: for those who look into it. */
    flush: reads.flush,
    /** Closes rows of dead processes; their outcome is unknown. */
    closeAbandoned: () => closeAbandoned(store, at()),
    /** Writes the ends that were kept during a store outage. @throws ServiceError 503 while it lasts. */
    settle: late.settle,
  };
}

function createRow(call: LoggedCall): Omit<ExecutionRow, "status"> {
  const { principal, entry, connectionId, arguments: args, permission, waitsUntil = null } = call;
  return {
    id: createId("exe"),
    account_id: principal.accountId,
    api_key_id: principal.apiKeyId,
    connection_id: connectionId ?? "",
    integration: entry.integration.slug,
    action_id: entry.action.id,
    tool_name: entry.toolName,
    side_effect_level: levelOf(entry),
    arguments: JSON.stringify(args, hideCredential) ?? "null",
    output: null,
    error: null,
    started_at: "",
    finished_at: null,
    node_id: null,
    permission: permission === undefined ? null : JSON.stringify(permission),
    waits_until: waitsUntil,
  };
}

async function closeAbandoned(store: Store, finished_at: string): Promise<void> {
  const ofNobody = (e: ExpressionBuilder<Tables, "executions">) =>
    e.or([e("node_id", "is", null), e("node_id", "not in", e.selectFrom("nodes").select("nodes.id"))]);
  // One that still waited has done nothing.
  await store
    .updateTable("executions")
    .set({ status: "failed", error: storeError(notBegun()), finished_at, waits_until: null })
    .where("status", "=", "started")
    .where("waits_until", "is not", null)
    .where(ofNobody)
    .execute();
  const message = "The service stopped while this ran. Whether it took effect is not known.";
  const hint = "Check with a read whether it took effect before you send it again, then as a new request.";
  const error = storeError(new ServiceError(500, "outcome_unknown", message, { hint }));
  const closed = await store
    .updateTable("executions")
    .set({ status: "failed", error, finished_at })
    .where("status", "=", "started")
    .where(ofNobody)
    .returning("id")
    .execute();
  if (closed.length === 0) return;
  // Of one that ended without a trace in the log it is still to be found out.
  const ids = closed.map(({ id }) => id);
  await store.updateTable("kept_writes").set({ state: "acting" }).where("id", "in", ids).execute();
}

/** Number of recent reads returned by `listReads`. */
const MAX_READS = 5;

/** Earlier calls of a connection. */
export function createPastCalls(store: Store, flush: () => Promise<void>) {
  const succeeded = (connectionId: string) =>
    store
      .selectFrom("executions")
      // No index begins with the connection.
      .where("account_id", "=", (e) => e.selectFrom("connections").select("account_id").where("id", "=", connectionId))
      .where("connection_id", "=", connectionId)
      // Not as a column: SQLite would go by the status, which most rows have.
      .where((e) => e(e.fn.coalesce("status", sql.lit("")), "=", "succeeded"));
  return {
    /** Tools and arguments of its newest reads that succeeded, newest first. */
    async listReads(connectionId: string) {
      await flush();
      const rows = await succeeded(connectionId)
        .select(["tool_name", "arguments"])
        .where("side_effect_level", "=", "read")
        .orderBy("started_at", "desc")
        .limit(MAX_READS)
        .execute();
      const read = (json: string) => parseExactly(json) as Record<string, unknown>;
      return rows.map((row) => ({ toolName: row.tool_name, args: read(row.arguments) }));
    },

    /** True when the log holds a successful call of the connection. */
    async hasSucceeded(connectionId: string): Promise<boolean> {
      await flush();
      return (await succeeded(connectionId).select("id").limit(1).executeTakeFirst()) !== undefined;
    },
  };
}
