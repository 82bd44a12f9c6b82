import type { TriggerEventRow } from "../store/schema.ts";
import type { Attempt } from "./deliver.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";

/** Pauses after failed attempts, in milliseconds; the last one repeats. */
const PAUSES_MS = [5_000, 20_000, 80_000, 320_000, 1_200_000, 3_600_000] as const;
/** Failed attempts after which an event is given up: a day of them. */
const MAX_ATTEMPTS = PAUSES_MS.length + 23;
/** Longest pause that the other side may ask for, in milliseconds. */
const LONGEST_MS = 24 * 60 * 60 * 1000;
/** Events that one process takes at a time. */
const TAKEN = 32;

/** The events that wait to be acted on. */
export function createEventQueue(parts: TriggerParts) {
  const { store, node } = parts;

  /** Events of triggers that are not paused, free or left behind by a process that died; `active` are those under way here. */
  async function listDue(alive: readonly string[]) {
    return store
      .selectFrom("trigger_events")
      .innerJoin("triggers", "triggers.id", "trigger_events.trigger_id")
      .selectAll("trigger_events")
      .where("trigger_events.status", "=", "pending")
      .where("trigger_events.next_at", "<=", toRowTime(parts))
      .where("triggers.paused_at", "is", null)
      .where((e) =>
        e.or([
          e("trigger_events.leased_by", "is", null),
          e("trigger_events.leased_by", "not in", others(alive, node.id)),
        ]),
      )
      .orderBy("trigger_events.next_at")
      .orderBy("trigger_events.id")
      .limit(TAKEN)
      .execute();
  }

  async function take(event: TriggerEventRow): Promise<boolean> {
    const own = store.updateTable("trigger_events").set({ leased_by: node.id }).where("id", "=", event.id);
    const free = own.where("status", "=", "pending").where("leased_by", "is not distinct from", event.leased_by);
    return (await free.executeTakeFirst()).numUpdatedRows > 0n;
  }

  return {
    /** Takes due events for this process, but for those that it has in hand. */
    async claim(alive: readonly string[], active: ReadonlySet<string>): Promise<TriggerEventRow[]> {
      const taken: TriggerEventRow[] = [];
      for (const event of await listDue(alive)) {
        if (!active.has(event.id) && (await take(event))) taken.push({ ...event, leased_by: node.id });
      }
      return taken;
    },
    /** Writes down how an attempt ended, and plans the next one. */
    async settle(event: TriggerEventRow, attempt: Attempt): Promise<void> {
      if (attempt.ok === "gone") return;
      const own = store.updateTable("trigger_events").where("id", "=", event.id).where("status", "=", "pending");
      const settled_at = toRowTime(parts);
      if (attempt.ok) {
        await own.set({ status: "done", error: null, leased_by: null, settled_at }).execute();
        return;
      }
      const attempts = event.attempts + 1;
      const failed = { attempts, error: attempt.reason, leased_by: null };
      const isOver = attempt.isGone || attempts >= MAX_ATTEMPTS;
      const pause = Math.max(PAUSES_MS[attempts - 1] ?? PAUSES_MS[5], (attempt.retryAfterSeconds ?? 0) * 1000);
      const next_at = toRowTime(parts, Math.min(pause, LONGEST_MS));
      await own.set(isOver ? { ...failed, status: "failed", settled_at } : { ...failed, next_at }).execute();
    },
    /** When the next event is due, as rows keep it, but for those that are under way here; undefined where none waits. */
    async findNext(active: readonly string[]): Promise<string | undefined> {
      const waiting = store
        .selectFrom("trigger_events")
        .innerJoin("triggers", "triggers.id", "trigger_events.trigger_id")
        .select((e) => e.fn.min("trigger_events.next_at").as("at"))
        .where("trigger_events.status", "=", "pending")
        .where("triggers.paused_at", "is", null)
        .where("trigger_events.id", "not in", ["", ...active])
        .where((e) => e.or([e("trigger_events.leased_by", "is", null), e("trigger_events.leased_by", "=", node.id)]));
      return (await waiting.executeTakeFirst())?.at ?? undefined;
    },
  };
}

/** Processes whose leases count: an empty list would be no SQL. */
export function others(alive: readonly string[], own: string): readonly string[] {
  return [...alive.filter((id) => id !== own), ""];
}
