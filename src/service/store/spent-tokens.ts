import type { SpentTokens } from "../files/ingest-tokens.ts";
import type { Store } from "./open-store.ts";

/** Remembers which upload tokens were used, across restarts; `forgetExpired` removes them a day after their end. */
export function createSpentTokens(store: Store): SpentTokens {
  return {
    async spend(jti, expiresAtMs) {
      const spent = await store
        .insertInto("spent_ingest_tokens")
        .values({ jti, expires_at: new Date(expiresAtMs).toISOString() })
        .onConflict((c) => c.doNothing())
        .returning("jti")
        .executeTakeFirst();
      return spent !== undefined;
    },
  };
}
