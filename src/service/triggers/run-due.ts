import { ServiceError } from "../service-error.ts";
import type { TriggerRow } from "../store/schema.ts";
import { others } from "./event-queue.ts";
import { lookForEvents } from "./look.ts";
import { countRuns, nextRun } from "./schedule.ts";
import { type Trigger, toTrigger } from "./trigger.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";
import { addEvents, LeaseLostError, requireLease } from "./write-events.ts";

/** A run that is later than this many milliseconds was missed, and is made up for. */
const LATE_MS = 5 * 60 * 1000;
/** Longest pause after looks that failed, in milliseconds. */
const LONGEST_PAUSE_MS = 60 * 60 * 1000;

/** Triggers whose time has come and that nobody looks after: free, or left behind by a process that died. */
export async function claimDue(
  parts: TriggerParts,
  alive: readonly string[],
  active: ReadonlySet<string>,
): Promise<Trigger[]> {
  const { store, node } = parts;
  const due = await store
    .selectFrom("triggers")
    .selectAll()
    .where("paused_at", "is", null)
    .where("due_at", "<=", toRowTime(parts))
    .where((e) => e.or([e("leased_by", "is", null), e("leased_by", "not in", others(alive, node.id))]))
    .orderBy("due_at")
    .execute();
  const taken: Trigger[] = [];
  for (const row of due) {
    if (active.has(row.id) || (row.kind === "schedule" && !parts.isClockBelieved())) continue;
    const own = store.updateTable("triggers").set({ leased_by: node.id }).where("id", "=", row.id);
    const free = own.where("due_at", "=", row.due_at).where("leased_by", "is not distinct from", row.leased_by);
    if ((await free.executeTakeFirst()).numUpdatedRows === 0n) continue;
    const trigger = await readTaken(parts, { ...row, leased_by: node.id });
    if (trigger !== undefined) taken.push(trigger);
  }
  return taken;
}

/** One that cannot be read, such as one for a time zone that is gone, must not stop the others. */
async function readTaken(parts: TriggerParts, row: TriggerRow): Promise<Trigger | undefined> {
  try {
    return toTrigger(row);
  } catch (cause) {
    parts.log({ level: "error", message: `The trigger ${row.id} cannot be read.`, cause });
    await release(parts, row, { due_at: null, failures: 1, error: "It cannot be read: delete it and make it again." });
    return undefined;
  }
}

/** Runs a schedule, or looks into an app, and plans the next time; the lease ends with it. */
export async function runDue(parts: TriggerParts, trigger: Trigger, signal: AbortSignal): Promise<void> {
  if (trigger.on.kind === "schedule") return runSchedule(parts, trigger);
  try {
    await lookForEvents(parts, trigger, signal);
    await release(parts, trigger.row, { due_at: toRowTime(parts, parts.lookEveryMs) });
  } catch (error) {
    if (error instanceof LeaseLostError) return;
    // It was cut off: whoever is there next looks at once.
    if (signal.aborted) return release(parts, trigger.row, {});
    const reason = explainLook(parts, error);
    const failures = trigger.row.failures + 1;
    const pause = Math.min(parts.lookEveryMs * 2 ** Math.min(failures - 1, 12), LONGEST_PAUSE_MS);
    await release(parts, trigger.row, { failures, error: reason, due_at: toRowTime(parts, pause) });
  }
}

/** Why a look failed, for the owner; what is no refusal is told to the operator. */
export function explainLook(parts: TriggerParts, error: unknown): string {
  if (error instanceof ServiceError) return error.message;
  parts.log({ level: "error", message: "A look failed unexpectedly.", cause: error });
  return "Something unexpected went wrong in the service.";
}

async function release({ store, node }: TriggerParts, { id }: TriggerRow, change: Partial<TriggerRow>): Promise<void> {
  const own = store.updateTable("triggers").where("id", "=", id).where("leased_by", "=", node.id);
  await own.set({ leased_by: null, ...change }).execute();
}

/** One event for a run that is due; of several that were missed, for the first alone. */
async function runSchedule(parts: TriggerParts, trigger: Trigger): Promise<void> {
  const { on, row } = trigger;
  if (on.kind !== "schedule" || row.due_at === null) return;
  const now = parts.now();
  const from = Date.parse(row.due_at);
  const next = await nextRun(on, now);
  const late = now - from > LATE_MS ? describeLate(row.due_at, await countRuns(on, { from, to: now })) : null;
  await parts.store
    .transaction()
    .execute(async (db) => {
      await requireLease(parts, db, trigger);
      const at = row.due_at ?? "";
      await addEvents(parts, db, trigger, [{ key: at, at, values: { at } }]);
      const due_at = next === undefined ? null : new Date(next).toISOString();
      const change = { due_at, leased_by: null, failures: 0, error: null, note: late };
      await db.updateTable("triggers").set(change).where("id", "=", row.id).execute();
    })
    .catch((error: unknown) => {
      if (!(error instanceof LeaseLostError)) throw error;
    });
}

function describeLate(at: string, others: number): string {
  const rest =
    others === 0
      ? ""
      : ` ${others === 1 ? "Another run that was" : `${others} more that were`} missed with it ${others === 1 ? "is" : "are"} left out.`;
  return `The run of ${at.slice(0, 16).replace("T", " ")} UTC was missed and made up for once.${rest}`;
}
