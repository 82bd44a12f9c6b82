import type { Store } from "../store/open-store.ts";
import { openSession, type SigningBrowser } from "./open-session.ts";
import { findFirstOwner, type Person, selectPeople } from "./people.ts";
import { createSecret, hashSecret } from "./secrets.ts";

const MINUTE_MS = 60 * 1000;

/** How long a link that `svc login-link` prints works. */
const OWN_LINK_LIFETIME_MS = 10 * MINUTE_MS;

/** How long a link that an owner made for a person works. */
const INVITATION_LIFETIME_MS = 24 * 60 * MINUTE_MS;

/** Creates the one-time sign-in links of a store. `now` gives milliseconds since the epoch. */
export function createSignInLinks(store: Store, now: () => number) {
  const at = (offset = 0) => new Date(now() + offset).toISOString();

  async function insert(person_id: string, lifetimeMs: number) {
    const secret = createSecret();
    const expiresAt = at(lifetimeMs);
    await store
      .insertInto("sign_in_links")
      .values({ link_hash: hashSecret(secret), person_id, created_at: at(), expires_at: expiresAt, used_at: null })
      .execute();
    return { secret, expiresAt };
  }

  return {
    /** A new one-time secret for a link that signs in the first owner, within ten minutes. */
    async createLink(accountId: string): Promise<string> {
      return (await insert(await findFirstOwner(store, accountId), OWN_LINK_LIFETIME_MS)).secret;
    },

    /** A new one-time secret for a link that signs in this person, within a day. Earlier links work no longer. */
    async createInvitation(personId: string) {
      await store.deleteFrom("sign_in_links").where("person_id", "=", personId).execute();
      return insert(personId, INVITATION_LIFETIME_MS);
    },

    /** Whom a link signs in; undefined when it cannot be spent any more. */
    findInvited(linkSecret: string): Promise<Person | undefined> {
      return selectPeople(store)
        .innerJoin("sign_in_links", "person_id", "people.id")
        .select(["people.id", "name", "role"])
        .where("link_hash", "=", hashSecret(linkSecret))
        .where("used_at", "is", null)
        .where("expires_at", ">", at())
        .executeTakeFirst();
    },

    /** Spends a link; the secret of the new session, or undefined when the link is unknown, used or expired. */
    signIn(linkSecret: string, browser: SigningBrowser): Promise<string | undefined> {
      return store.transaction().execute(async (transaction) => {
        // One statement, so that of two browsers with the same link exactly one gets in.
        const link = await transaction
          .updateTable("sign_in_links")
          .set({ used_at: at() })
          .where("link_hash", "=", hashSecret(linkSecret))
          .where("used_at", "is", null)
          .where("expires_at", ">", at())
          .where("person_id", "in", selectPeople(transaction).select("id"))
          .returning("person_id")
          .executeTakeFirst();
        if (link === undefined) return undefined;
        const { person_id } = link;
        const newcomer = transaction.updateTable("people").where("id", "=", person_id).where("joined_at", "is", null);
        await newcomer.set({ joined_at: at() }).execute();
        return openSession(transaction, { personId: person_id, passkeyId: null, browser, now: now() });
      });
    },
  };
}
