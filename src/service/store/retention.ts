import { setImmediate as nextTurn } from "node:timers/promises";
import type { FlowStatus } from "../../shared/wire/flow.ts";
import { inSoftTransaction, type Store, takeTurn } from "./open-store.ts";

/** Rows in one transaction: while it lasts, nobody else is served on a SQLite file, and a row can have megabytes. */
const BATCH = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A flow that failed has ended too, unless somebody resumes it. */
const ENDED: readonly FlowStatus[] = ["completed", "failed", "cancelled"];

interface Place {
  readonly id: string;
  readonly time: string;
}

interface Forgetting {
  readonly store: Store;
  /** The time now, and the end of what is removed. */
  readonly at: string;
  readonly before: string;
  /** True when no further batch is to begin. */
  isStopping(): boolean;
}

/**
 * Removes executions, flows and events of triggers that ended more than `days` days before `time` (milliseconds since the epoch, see
 * `advanceUpkeep`), the oldest first, a few at a time. What runs or waits
 * stays (an approval waits for a day at most), and so does an execution that a flow or a valid idempotency key refers to: without it a write could be made again.
 */
export async function forgetEnded(o: {
  store: Store;
  time: number;
  days: number;
  isStopping: () => boolean;
}): Promise<void> {
  const { store, time, days, isStopping } = o;
  const [at, before] = [time, Math.max(0, time - days * DAY_MS)].map((one) => new Date(one).toISOString());
  if (at === undefined || before === undefined) return;
  const work = { store, at, before, isStopping };
  for (const { id } of await store.selectFrom("accounts").select("id").execute()) {
    await walk(work, (after) => findFlows(work, id, after), forgetFlows);
    await walk(work, (after) => findExecutions(work, id, after), forgetExecutions);
    await walk(work, (after) => findApprovals(work, id, after), forgetApprovals);
  }
  await walk(work, (after) => findTriggerEvents(work, after), forgetTriggerEvents);
  await store.deleteFrom("usage_days").where("day", "<", before.slice(0, 10)).execute();
}

/** Looks at each row once, also at rows that have to stay. Processes that share the store take turns. */
async function walk(
  o: Forgetting,
  find: (after: Place) => Promise<Place[]>,
  forget: (transaction: Store, ids: string[], o: Forgetting) => Promise<void>,
): Promise<void> {
  for (let after: Place = { id: "", time: "" }; !o.isStopping(); ) {
    const found = await find(after);
    const last = found.at(-1);
    if (last === undefined) return;
    // Nothing is lost when a power cut undoes it.
    await inSoftTransaction(o.store, async (transaction) => {
      await takeTurn(transaction, "forget");
      const ids = found.map(({ id }) => id);
      await forget(transaction, ids, o);
    });
    after = last;
    // SQLite works within a turn of the event loop: without a break requests would wait for the end of all this.
    await nextTurn();
  }
}

function findFlows({ store, before }: Forgetting, accountId: string, after: Place): Promise<Place[]> {
  return store
    .selectFrom("flows")
    .select(["id", "updated_at as time"])
    .where("account_id", "=", accountId)
    .where("updated_at", "<", before)
    .where((e) => e(e.refTuple("updated_at", "id"), ">", e.tuple(after.time, after.id)))
    .where("status", "in", ENDED)
    .orderBy("updated_at")
    .orderBy("id")
    .limit(BATCH)
    .execute();
}

async function forgetFlows(transaction: Store, ids: string[], { before }: Forgetting): Promise<void> {
  // Somebody may have resumed one since it was found.
  const gone = await transaction
    .deleteFrom("flows")
    .where("id", "in", ids)
    .where("status", "in", ENDED)
    .where("updated_at", "<", before)
    .returning("id")
    .execute();
  const flowIds = gone.map(({ id }) => id);
  if (flowIds.length === 0) return;
  for (const table of ["flow_steps", "flow_calls"] as const) {
    await transaction.deleteFrom(table).where("flow_id", "in", flowIds).execute();
  }
}

function findExecutions({ store, before }: Forgetting, accountId: string, after: Place): Promise<Place[]> {
  return store
    .selectFrom("executions")
    .select(["id", "started_at as time"])
    .where("account_id", "=", accountId)
    .where("started_at", "<", before)
    .where((e) => e(e.refTuple("started_at", "id"), ">", e.tuple(after.time, after.id)))
    .orderBy("started_at")
    .orderBy("id")
    .limit(BATCH)
    .execute();
}

async function forgetExecutions(transaction: Store, ids: string[], { at, before }: Forgetting): Promise<void> {
  await transaction
    .deleteFrom("executions")
    .where("id", "in", ids)
    .where("status", "!=", "started")
    .where("finished_at", "<", before)
    .where((e) => {
      const calls = e.selectFrom("flow_calls").select("key").whereRef("execution_id", "=", "executions.id");
      const keys = e.selectFrom("idempotency_keys").select("key").whereRef("execution_id", "=", "executions.id");
      return e.not(e.or([e.exists(calls), e.exists(keys.where("expires_at", ">", at))]));
    })
    .execute();
}

function findApprovals({ store, before }: Forgetting, accountId: string, after: Place): Promise<Place[]> {
  return store
    .selectFrom("approvals")
    .select(["id", "requested_at as time"])
    .where("account_id", "=", accountId)
    .where("requested_at", "<", before)
    .where((e) => e(e.refTuple("requested_at", "id"), ">", e.tuple(after.time, after.id)))
    .orderBy("requested_at")
    .orderBy("id")
    .limit(BATCH)
    .execute();
}

async function forgetApprovals(transaction: Store, ids: string[]): Promise<void> {
  await transaction.deleteFrom("approvals").where("id", "in", ids).execute();
}

/** Events of triggers that were acted on, or given up. */
function findTriggerEvents({ store, before }: Forgetting, after: Place): Promise<Place[]> {
  return store
    .selectFrom("trigger_events")
    .select((e) => ["id", e.ref("settled_at").$notNull().as("time")])
    .where("settled_at", "<", before)
    .where((e) => e(e.refTuple("settled_at", "id"), ">", e.tuple(after.time, after.id)))
    .orderBy("settled_at")
    .orderBy("id")
    .limit(BATCH)
    .execute();
}

async function forgetTriggerEvents(transaction: Store, ids: string[]): Promise<void> {
  await transaction.deleteFrom("trigger_events").where("id", "in", ids).execute();
}

/** Records of use are kept this long after they expire: late reuse is recognised, also after a clock is set back. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;
/** Number of newest keys that stay at any age: a request repeated under such a key must not act again. */
export const KEPT_KEYS = 100_000;

const TABLES = ["provider_sign_ins", "sign_in_links", "owner_sessions", "opened_approvals"] as const;
const KEPT_TABLES = [
  "oauth_records",
  "spent_ingest_tokens",
  "spent_challenges",
  "pairing_sessions",
  "bootstrap_sessions",
] as const;

/**
 * Removes rows that have expired at `time` (milliseconds since the epoch, see `advanceUpkeep`). Nothing else
 * removes rows by their age, so that a wrong clock cannot.
 */
export async function forgetExpired(store: Store, time: number, keptKeys = KEPT_KEYS): Promise<void> {
  const at = (offset: number) => new Date(time + offset).toISOString();
  for (const table of TABLES) await store.deleteFrom(table).where("expires_at", "<", at(0)).execute();
  const kept = at(-KEPT_AFTER_EXPIRY_MS);
  for (const table of KEPT_TABLES) await store.deleteFrom(table).where("expires_at", "<", kept).execute();
  // Of targets that nobody sends to any more.
  for (const table of ["notes", "note_tests"] as const) {
    await store
      .deleteFrom(table)
      .where("created_at", "<", at(-2 * DAY_MS))
      .execute();
  }
  await forgetKeys(store, at(0), keptKeys);
}

/** Keys in one transaction. They are small. */
const KEY_BATCH = 200;

/** From the oldest on, a few at a time: a service that made millions of calls meanwhile goes on to answer. */
async function forgetKeys(store: Store, before: string, kept: number): Promise<void> {
  const { last } = await store
    .selectFrom("idempotency_keys")
    .select((e) => e.fn.max("number").as("last"))
    .executeTakeFirstOrThrow();
  const old = store
    .selectFrom("idempotency_keys")
    .select("number")
    .where("number", "<=", Number(last ?? 0) - kept)
    .where("expires_at", "<", before)
    .orderBy("number")
    .limit(KEY_BATCH);
  for (let after = 0; ; ) {
    const found = (await old.where("number", ">", after).execute()).map(({ number }) => number);
    const newest = found.at(-1);
    if (newest === undefined) return;
    await store.deleteFrom("idempotency_keys").where("number", "in", found).where("expires_at", "<", before).execute();
    after = newest;
    await nextTurn();
  }
}

/** Catch-up speed of the upkeep time: a day per hour. */
const CATCH_UP = 24;
const ROW = 1;

/**
 * The time (milliseconds since the epoch) by which age is judged when something is removed for good. It is `now`, but it
 * never goes on by more than a day at once, nor by more than a day an hour: a clock that is wrong at one start removes a
 * day's worth and not everything, and its owner has time to set it right. Starts and processes that share the store go
 * on together.
 */
export async function advanceUpkeep(store: Store, now: number): Promise<number> {
  return store.transaction().execute(async (transaction) => {
    await takeTurn(transaction, "upkeep");
    const last = await transaction.selectFrom("upkeep").selectAll().where("id", "=", ROW).executeTakeFirst();
    const reached = last === undefined ? now : goOn(Date.parse(last.reached_at), now - Date.parse(last.seen_at), now);
    const row = { id: ROW, reached_at: new Date(reached).toISOString(), seen_at: new Date(now).toISOString() };
    await transaction
      .insertInto("upkeep")
      .values(row)
      .onConflict((c) => c.column("id").doUpdateSet(row))
      .execute();
    return reached;
  });
}

function goOn(reached: number, passedMs: number, now: number): number {
  return Math.min(now, reached + Math.min(Math.max(passedMs, 0) * CATCH_UP, DAY_MS));
}
