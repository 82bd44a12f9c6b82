import type { Store } from "../store/open-store.ts";

/** Sessions that may wait for the owner at one time, of each kind. */
export const MAX_WAITING = 500;
/** Ended sessions are kept this long, so that a late browser tab still learns how it ended. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

/** The tables, with the column that names a row. */
const KEYS = { pairing_sessions: "token_hash", bootstrap_sessions: "approval_hash" } as const;

/**
 * Makes room for one more session that anybody may start. Nobody is refused: a limit that refuses lets a stranger lock
 * everybody out with as many requests, and so does one for each address where all come through one proxy. Instead, where
 * too many wait, the network that most of them come from loses its oldest one that the owner has not opened. A stranger
 * can so push others out only from their own network, and only while he sends hundreds of requests in the seconds that
 * the owner needs to open a page.
 */
export async function makeRoom(transaction: Store, table: keyof typeof KEYS, now: number): Promise<void> {
  const at = new Date(now).toISOString();
  const keptSince = new Date(now - KEPT_AFTER_EXPIRY_MS).toISOString();
  await transaction.deleteFrom(table).where("expires_at", "<", keptSince).execute();
  const waiting = transaction.selectFrom(table).where("status", "=", "awaiting_approval").where("expires_at", ">", at);
  const { count } = await waiting.select((e) => e.fn.countAll().as("count")).executeTakeFirstOrThrow();
  if (Number(count) < MAX_WAITING) return;
  const unopened = waiting.where("opened_at", "is", null);
  const busiest = await unopened
    .select("network")
    .groupBy("network")
    .orderBy((e) => e.fn.countAll(), "desc")
    .orderBy((e) => e.fn.min("created_at"))
    .limit(1)
    .executeTakeFirst();
  if (busiest === undefined) return;
  const key = KEYS[table];
  const oldest = unopened.select(key).where("network", "=", busiest.network).orderBy("created_at").limit(1);
  // Of a session that the owner opens this moment the outer conditions hold no more.
  const stale = transaction.deleteFrom(table).where("status", "=", "awaiting_approval").where("opened_at", "is", null);
  await stale.where(key, "in", oldest).execute();
}
