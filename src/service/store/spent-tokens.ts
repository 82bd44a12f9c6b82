import type { Store } from "./open-store.ts";

/** Remembers spent tokens until they expire. `spend` is atomic: of parallel calls with one id exactly one gets true. */
export interface SpentTokens {
  spend(jti: string, expiresAtMs: number): Promise<boolean>;
}

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
