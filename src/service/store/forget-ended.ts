import { setImmediate as nextTurn } from "node:timers/promises";
import type { FlowStatus } from "../../wire/flow.ts";
import type { Store } from "./open-store.ts";
import { inSoftTransaction } from "./soft-transaction.ts";
import { takeTurn } from "./turns.ts";

/** Rows in one transaction: while it lasts, nobody else is served on a SQLite file, and a row can have megabytes. */
const BATCH = 10;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A flow that failed has ended too, unless somebody resumes it. */
const ENDED: readonly FlowStatus[] = ["completed", "failed", "cancelled"];

/** Where a walk through the rows of an account stands. */
interface Place {
  readonly id: string;
  readonly time: string;
}

/** What is removed. */
interface Forgetting {
  readonly store: Store;
  /** The time now, and the end of what is removed. */
  readonly at: string;
  readonly before: string;
  /** True when no further batch is to begin. */
  isStopping(): boolean;
}

/**
 * Removes executions and flows that ended more than `days` days ago, the oldest first, a few at a time. What runs or waits
 * stays, and so does an execution that a flow or a valid idempotency key refers to: without it a write could be made again.
 */
export async function forgetEnded(o: {
  store: Store;
  now: () => number;
  days: number;
  isStopping: () => boolean;
}): Promise<void> {
  const { store, now, days, isStopping } = o;
  const [at, before] = [now(), Math.max(0, now() - days * DAY_MS)].map((time) => new Date(time).toISOString());
  if (at === undefined || before === undefined) return;
  const work = { store, at, before, isStopping };
  for (const { id } of await store.selectFrom("accounts").select("id").execute()) {
    await walk(work, (after) => findFlows(work, id, after), forgetFlows);
    await walk(work, (after) => findExecutions(work, id, after), forgetExecutions);
  }
  await store.deleteFrom("usage_days").where("day", "<", before.slice(0, 10)).execute();
}

/** Goes on behind what had to stay, so that it is looked at once. Processes that share the store take turns. */
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
  for (const table of ["flow_steps", "flow_calls", "flow_outbox"] as const) {
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
