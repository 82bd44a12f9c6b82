import type { Store } from "../store/open-store.ts";
import { createSecret, deriveToken, hashSecret } from "./secrets.ts";

/** How long a one-time sign-in link works. */
const SIGN_IN_LINK_LIFETIME_MS = 10 * 60 * 1000;

/** How long a browser stays signed in. */
export const OWNER_SESSION_LIFETIME_MS = 7 * 24 * 60 * 60 * 1000;

/** A signed-in browser. */
export interface OwnerSession {
  readonly accountId: string;
  /** Must come back with every form of this browser. */
  readonly csrfToken: string;
}

/** Sign-in of the human who owns the service; an API key is never a session. */
export type OwnerSessions = ReturnType<typeof createOwnerSessions>;

/** Creates the owner sessions of a store. `now` gives milliseconds since the epoch. */
export function createOwnerSessions(store: Store, now: () => number) {
  const at = (offset = 0) => new Date(now() + offset).toISOString();

  return {
    /** A new one-time secret for a sign-in link. */
    async createLink(accountId: string): Promise<string> {
      const secret = createSecret();
      await store
        .insertInto("sign_in_links")
        .values({
          link_hash: hashSecret(secret),
          account_id: accountId,
          created_at: at(),
          expires_at: at(SIGN_IN_LINK_LIFETIME_MS),
          used_at: null,
        })
        .execute();
      return secret;
    },

    /** True while a link can still be spent. */
    async isOpen(linkSecret: string): Promise<boolean> {
      const link = await store
        .selectFrom("sign_in_links")
        .select("link_hash")
        .where("link_hash", "=", hashSecret(linkSecret))
        .where("used_at", "is", null)
        .where("expires_at", ">", at())
        .executeTakeFirst();
      return link !== undefined;
    },

    /** Spends a link; the secret of the new session, or undefined when the link is unknown, used or expired. */
    async signIn(linkSecret: string): Promise<string | undefined> {
      // One statement, so that of two browsers with the same link exactly one gets in.
      const link = await store
        .updateTable("sign_in_links")
        .set({ used_at: at() })
        .where("link_hash", "=", hashSecret(linkSecret))
        .where("used_at", "is", null)
        .where("expires_at", ">", at())
        .returning("account_id")
        .executeTakeFirst();
      if (link === undefined) return undefined;
      const secret = createSecret();
      await store
        .insertInto("owner_sessions")
        .values({
          session_hash: hashSecret(secret),
          account_id: link.account_id,
          created_at: at(),
          expires_at: at(OWNER_SESSION_LIFETIME_MS),
        })
        .execute();
      return secret;
    },

    async find(sessionSecret: string): Promise<OwnerSession | undefined> {
      const row = await store
        .selectFrom("owner_sessions")
        .select("account_id")
        .where("session_hash", "=", hashSecret(sessionSecret))
        .where("expires_at", ">", at())
        .executeTakeFirst();
      if (row === undefined) return undefined;
      return { accountId: row.account_id, csrfToken: deriveToken(sessionSecret, "csrf") };
    },

    async end(sessionSecret: string): Promise<void> {
      await store.deleteFrom("owner_sessions").where("session_hash", "=", hashSecret(sessionSecret)).execute();
    },
  };
}
