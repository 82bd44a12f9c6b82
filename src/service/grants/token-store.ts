import { z } from "zod";
import type { SecretBox } from "../secrets/secret-box.ts";
import type { Store } from "../store/open-store.ts";

const tokensSchema = z.object({
  accessToken: z.string(),
  /** The one that is valid now. */
  refreshToken: z.string(),
  /** Milliseconds since the epoch; undefined when the provider does not say. */
  renewAt: z.number().optional(),
  expiresAt: z.number().optional(),
  data: z.record(z.string(), z.unknown()),
});

/** What a grant was last given. */
export type StoredTokens = z.output<typeof tokensSchema>;

/** Keeps the tokens of grants, encrypted. */
export interface TokenStore {
  /** Undefined when nothing was given yet, or this key does not open it. */
  find(grant: string): Promise<StoredTokens | undefined>;
  /** Durable when it resolves. */
  put(grant: string, integration: string, tokens: StoredTokens): Promise<void>;
  forget(grant: string): Promise<void>;
}

/** Opens the tokens of a store. `now` gives milliseconds since the epoch. */
export function createTokenStore({ store, box, now }: { store: Store; box: SecretBox; now: () => number }): TokenStore {
  const placeOf = (grant: string) => `access_tokens.${grant}`;
  return {
    async find(grant) {
      const row = await store
        .selectFrom("access_tokens")
        .select("tokens")
        .where("grant_hash", "=", grant)
        .executeTakeFirst();
      const opened = row === undefined ? undefined : box.open(row.tokens, placeOf(grant));
      return opened === undefined ? undefined : tokensSchema.parse(JSON.parse(opened));
    },
    async put(grant, integration, tokens) {
      const changed = {
        tokens: box.seal(JSON.stringify(tokens), placeOf(grant)),
        updated_at: new Date(now()).toISOString(),
      };
      await store
        .insertInto("access_tokens")
        .values({ grant_hash: grant, integration, ...changed })
        .onConflict((conflict) => conflict.column("grant_hash").doUpdateSet(changed))
        .execute();
    },
    async forget(grant) {
      await store.deleteFrom("access_tokens").where("grant_hash", "=", grant).execute();
    },
  };
}
