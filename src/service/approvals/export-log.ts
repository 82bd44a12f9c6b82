import { parseExactly } from "../../shared/base/exact-number.ts";
import { restoreError } from "../executions/outcome.ts";
import { readPermission } from "../executions/permission.ts";
import { openOwnStore } from "../store/open-own-store.ts";
import type { Store } from "../store/open-store.ts";
import { findStatus } from "./approval-rows.ts";

/** Statuses of lines: of executions, a decided call that did not run among them, and of requests without one. */
export const LOG_STATUSES = {
  execution: ["started", "succeeded", "failed", "refused"],
  approval: ["pending", "approved", "cancelled", "expired"],
} as const;

/** Which lines to export; a missing member does not filter. */
export interface LogFilter {
  /** First and last UTC day, `YYYY-MM-DD`, both included. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  /** Full tool name. */
  readonly tool?: string | undefined;
  /** One of {@link LOG_STATUSES}. */
  readonly status?: string | undefined;
}

/** One line of the log, for programs. */
export type LogLine = { readonly time: string; readonly id: string } & Readonly<Record<string, unknown>>;

/** Rows read at one time: with arguments and results, one can have megabytes. */
const PAGE = { short: 200, full: 10 } as const;

/**
 * The log of a service of this machine, the oldest line first, while it runs or not: executions with the decision of their
 * approval, and requests to the owner that led to none. Entries that are newer than its start are left out.
 *
 * @param o.isFull with arguments and results, as the log page shows them: without values under the name of a credential,
 *   and without secrets of connections
 * @throws SvcError as `openOwnStore`
 */
export async function* exportLog(
  o: LogFilter & { readonly dataDir: string; readonly database?: string | undefined; readonly isFull: boolean },
): AsyncGenerator<LogLine, void> {
  const { store, accountId } = await openOwnStore(o);
  try {
    const range = { from: `${o.from ?? "0"}`, before: findEnd(o.to), tool: o.tool, accountId };
    const has = (kind: keyof typeof LOG_STATUSES) =>
      o.status === undefined || (LOG_STATUSES[kind] as readonly string[]).includes(o.status);
    const executions = has("execution") ? readExecutions(store, { ...o, ...range }) : readNothing();
    const approvals = has("approval") ? readApprovals(store, { ...o, ...range }) : readNothing();
    yield* merge(executions, approvals);
  } finally {
    await store.destroy();
  }
}

/** The first moment that is not exported. */
function findEnd(to: string | undefined): string {
  const now = new Date().toISOString();
  if (to === undefined) return now;
  const end = new Date(Date.parse(`${to}T00:00:00.000Z`) + 24 * 60 * 60 * 1000).toISOString();
  return end < now ? end : now;
}

interface Range {
  readonly accountId: string;
  readonly from: string;
  readonly before: string;
  readonly tool: string | undefined;
  readonly status?: string | undefined;
}

interface Place {
  readonly time: string;
  readonly id: string;
}

async function* walk<Row extends Place>(
  from: string,
  size: number,
  find: (after: Place) => Promise<Row[]>,
): AsyncGenerator<Row, void> {
  for (let after: Place | undefined = { time: from, id: "" }; after !== undefined; ) {
    const rows: Row[] = await find(after);
    yield* rows;
    after = rows.length < size ? undefined : rows.at(-1);
  }
}

const selectExecutions = (store: Store) =>
  store
    .selectFrom("executions as e")
    .leftJoin("api_keys", "api_keys.id", "e.api_key_id")
    .leftJoin("people", "people.id", "e.api_key_id")
    .leftJoin("triggers", "triggers.id", "e.api_key_id")
    .leftJoin("approvals as a", "a.execution_id", "e.id")
    .select(["e.id", "e.started_at as time", "e.finished_at", "e.status", "e.tool_name", "e.integration", "e.error"])
    .select(["e.side_effect_level as effect", "e.connection_id", "e.api_key_id", "e.permission"])
    .select((x) => x.fn.coalesce("api_keys.label", "people.name", "triggers.name").as("label"))
    .select(["a.id as approval_id", "a.requested_at", "a.decided_at", "a.decided_by", "a.reason", "a.edited_by"])
    .select(["a.status as approval_status"])
    .orderBy("e.started_at")
    .orderBy("e.id");
type ExecutionLine = Awaited<ReturnType<ReturnType<typeof selectExecutions>["execute"]>>[number];

async function* readExecutions(
  store: Store,
  range: Range & { readonly isFull: boolean },
): AsyncGenerator<LogLine, void> {
  const { accountId, from, before, tool, status, isFull } = range;
  const size = isFull ? PAGE.full : PAGE.short;
  const own = selectExecutions(store).where("e.account_id", "=", accountId).where("e.started_at", "<", before);
  const query = own
    .$if(tool !== undefined, (all) => all.where("e.tool_name", "=", tool ?? ""))
    .$if(status !== undefined, (all) => all.where("e.status", "=", status as ExecutionLine["status"]))
    .$if(isFull, (all) => all.select(["e.arguments", "e.output"]))
    .limit(size);
  const find = ({ time, id }: Place) =>
    query.where((e) => e(e.refTuple("e.started_at", "e.id"), ">", e.tuple(time, id))).execute();
  for await (const row of walk(from, size, find)) yield toExecutionLine(row);
}

function toExecutionLine(
  row: ExecutionLine & { readonly arguments?: string; readonly output?: string | null },
): LogLine {
  const { approval_id: id, requested_at, decided_at, decided_by, edited_by, reason } = row;
  const status = row.approval_status === "running" ? "approved" : row.approval_status;
  const error = row.error === null ? null : restoreError(row.error);
  return {
    ...describe("execution", row),
    finished_at: row.finished_at,
    allowed_by: describePermission(row),
    approval: id === null ? null : { id, status, requested_at, decided_at, decided_by, edited_by, reason },
    error: error && { code: error.code, message: error.message },
    ...(row.arguments === undefined ? {} : { arguments: parseExactly(row.arguments) }),
    ...(row.output === undefined ? {} : { result: parseExactly(row.output ?? "null") }),
  };
}

/** Who or what let it run; null for a call that did not run, and for those from before this was kept. */
function describePermission({ permission, label }: ExecutionLine) {
  const known = readPermission(permission);
  if (known?.by === "device") return { ...known, name: label };
  if (known?.by !== "person") return known ?? null;
  const { editedBy, ...person } = known;
  return editedBy === undefined ? person : { ...person, edited_by: editedBy };
}

async function* readApprovals(store: Store, range: Range): AsyncGenerator<LogLine, void> {
  const { accountId, from, before, tool, status } = range;
  const query = store
    .selectFrom("approvals as a")
    .leftJoin("api_keys", "api_keys.id", "a.api_key_id")
    .select(["a.id", "a.requested_at as time", "a.expires_at", "a.status", "a.tool_name", "a.integration"])
    .select(["a.level as effect", "a.connection_id", "a.api_key_id", "api_keys.label"])
    .select(["a.decided_at", "a.decided_by", "a.edited_by", "a.reason"])
    .where("a.account_id", "=", accountId)
    .where("a.execution_id", "is", null)
    .where("a.requested_at", "<", before)
    .$if(tool !== undefined, (all) => all.where("a.tool_name", "=", tool ?? ""))
    .orderBy("a.requested_at")
    .orderBy("a.id")
    .limit(PAGE.short);
  const find = ({ time, id }: Place) =>
    query.where((e) => e(e.refTuple("a.requested_at", "a.id"), ">", e.tuple(time, id))).execute();
  for await (const row of walk(from, PAGE.short, find)) {
    const { id, time, decided_at, decided_by, edited_by, reason } = row;
    const shown = findStatus(row, { at: null }, Date.now());
    if (status !== undefined && shown !== status) continue;
    const approval = { id, status: shown, requested_at: time, decided_at, decided_by, edited_by, reason };
    yield {
      ...describe("approval", { ...row, status: shown }),
      finished_at: null,
      allowed_by: null,
      approval,
      error: null,
    };
  }
}

type Described = Pick<
  ExecutionLine,
  "id" | "time" | "tool_name" | "integration" | "effect" | "connection_id" | "api_key_id" | "label"
> & { readonly status: string };

function describe(type: keyof typeof LOG_STATUSES, row: Described) {
  return {
    type,
    time: row.time,
    id: row.id,
    status: row.status,
    tool: row.tool_name,
    app: row.integration,
    effect: row.effect,
    connection_id: row.connection_id || null,
    asked_by: { id: row.api_key_id, name: row.label },
  };
}

async function* readNothing(): AsyncGenerator<LogLine, void> {}

/** Two streams in the order of time as one. */
async function* merge(
  left: AsyncGenerator<LogLine, void>,
  right: AsyncGenerator<LogLine, void>,
): AsyncGenerator<LogLine, void> {
  let [one, other] = [await left.next(), await right.next()];
  while (!one.done || !other.done) {
    if (!one.done && (other.done || one.value.time <= other.value.time)) {
      yield one.value;
      one = await left.next();
    } else if (!other.done) {
      yield other.value;
      other = await right.next();
    }
  }
}
