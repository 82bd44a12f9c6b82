import { sql } from "kysely";
import type { Store } from "../store/open-store.ts";

/** Sessions that may wait for the owner at one time, of each kind. */
export const MAX_WAITING = 500;
/** Ended sessions are kept this long, so that a late browser tab still learns how it ended. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

/** What anybody may start: where it is kept, the column that names a row, and what holds for rows that wait. */
const PLACES = {
  pairing: { table: "pairing_sessions", key: "token_hash", waits: sql<boolean>`status = 'awaiting_approval'` },
  bootstrap: { table: "bootstrap_sessions", key: "approval_hash", waits: sql<boolean>`status = 'awaiting_approval'` },
  client: { table: "oauth_records", key: "id_hash", waits: sql<boolean>`model = 'Client'` },
  authorization: { table: "oauth_records", key: "id_hash", waits: sql<boolean>`model = 'Interaction'` },
} as const;

/**
 * Makes room for one more session that anybody may start. Nobody is refused: a limit that refuses lets a stranger lock
 * everybody out with as many requests, and so does one for each address where all come through one proxy. Instead, where
 * too many wait, the network that most of them come from loses its oldest one that the owner has not opened. A stranger
 * can so push others out only from their own network, and only while he sends hundreds of requests in the seconds that
 * the owner needs to open a page.
 */
export async function makeRoom(transaction: Store, kind: keyof typeof PLACES, now: number): Promise<void> {
  const { table, key, waits } = PLACES[kind];
  const at = new Date(now).toISOString();
  const keptSince = new Date(now - KEPT_AFTER_EXPIRY_MS).toISOString();
  await transaction.deleteFrom(table).where("expires_at", "<", keptSince).execute();
  const waiting = transaction.selectFrom(table).where(waits).where("expires_at", ">", at);
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
  const oldest = unopened.select(key).where("network", "=", busiest.network).orderBy("created_at").limit(1);
  // Of a session that the owner opens this moment the outer conditions hold no more.
  await transaction.deleteFrom(table).where(waits).where("opened_at", "is", null).where(key, "in", oldest).execute();
}
