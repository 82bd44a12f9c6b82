import type { Store } from "./open-store.ts";

/** An OAuth record is kept this long after its end, so that late or repeated use is recognised for what it is. */
const OAUTH_KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

const TABLES = [
  "provider_sign_ins",
  "sign_in_links",
  "owner_sessions",
  "spent_ingest_tokens",
  "idempotency_keys",
] as const;

/**
 * Removes what is worth nothing any more. What writes to one of these tables does so too, but an app that only renews its
 * tokens, or an owner who types a secret and goes away, would leave rows behind for ever.
 */
export async function forgetExpired(store: Store, now: number): Promise<void> {
  const at = (offset: number) => new Date(now + offset).toISOString();
  for (const table of TABLES) await store.deleteFrom(table).where("expires_at", "<", at(0)).execute();
  await store.deleteFrom("oauth_records").where("expires_at", "<", at(-OAUTH_KEPT_AFTER_EXPIRY_MS)).execute();
}
