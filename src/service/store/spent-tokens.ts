import type { SpentTokens } from "../files/ingest-tokens.ts";
import type { Store } from "./open-store.ts";

/** Remembers which upload tokens were used, across restarts. */
export function createSpentTokens(store: Store, now: () => number): SpentTokens {
  return {
    async spend(jti, expiresAtMs) {
      await store.deleteFrom("spent_ingest_tokens").where("expires_at", "<", new Date(now()).toISOString()).execute();
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
