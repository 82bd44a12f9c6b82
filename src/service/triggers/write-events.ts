import { createId } from "../../shared/base/ids.ts";
import type { Store } from "../store/open-store.ts";
import type { Trigger } from "./trigger.ts";
import { type TriggerParts, toRowTime } from "./trigger-parts.ts";

/** Ends a look whose trigger another process looks after by now, or that was deleted. */
export class LeaseLostError extends Error {
  override readonly name = "LeaseLostError";
}

/** An event that is to be acted on. */
export interface NewEvent {
  /** Names it within its trigger: another with the same key is the same event. */
  readonly key: string;
  readonly at: string;
  readonly values: Readonly<Record<string, string>>;
}

/** Writes events down, each once; the answer has the keys of those that are new. */
export async function addEvents(
  parts: Pick<TriggerParts, "now">,
  db: Store,
  { row }: Pick<Trigger, "row">,
  events: readonly NewEvent[],
): Promise<string[]> {
  if (events.length === 0) return [];
  const rows = events.map(({ key, at, values }) => ({
    id: createId("evt"),
    trigger_id: row.id,
    event_key: key,
    at,
    data: JSON.stringify(values),
    status: "pending" as const,
    attempts: 0,
    next_at: toRowTime(parts),
    leased_by: null,
    error: null,
    flow_id: null,
    settled_at: null,
  }));
  const insert = db.insertInto("trigger_events").values(rows);
  const added = await insert
    .onConflict((c) => c.columns(["trigger_id", "event_key"]).doNothing())
    .returning("event_key")
    .execute();
  return added.map(({ event_key }) => event_key);
}

/** Holds the row of the trigger to the end of the transaction. @throws {@link LeaseLostError} */
export async function requireLease({ node }: TriggerParts, db: Store, { row }: Trigger): Promise<void> {
  const own = db.updateTable("triggers").set({ leased_by: node.id }).where("id", "=", row.id);
  const held = await own.where("leased_by", "=", node.id).executeTakeFirst();
  if (held.numUpdatedRows === 0n) throw new LeaseLostError("Another process looks after this trigger.");
}
