import type { Store } from "./open-store.ts";

/** What tells that something was used is kept this long after its end: late use is recognised, also by a clock set back. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

const TABLES = ["provider_sign_ins", "sign_in_links", "owner_sessions", "idempotency_keys"] as const;
const KEPT_TABLES = ["oauth_records", "spent_ingest_tokens"] as const;

/**
 * Removes what is worth nothing any more. What writes to most of these tables does so too, but an app that only renews its
 * tokens, or an owner who types a secret and goes away, would leave rows behind for ever.
 */
export async function forgetExpired(store: Store, now: number): Promise<void> {
  const at = (offset: number) => new Date(now + offset).toISOString();
  for (const table of TABLES) await store.deleteFrom(table).where("expires_at", "<", at(0)).execute();
  const kept = at(-KEPT_AFTER_EXPIRY_MS);
  for (const table of KEPT_TABLES) await store.deleteFrom(table).where("expires_at", "<", kept).execute();
}
