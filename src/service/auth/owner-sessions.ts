import type { Selectable } from "kysely";
import type { Store } from "../store/open-store.ts";
import type { Tables } from "../store/schema.ts";
import { type Person, selectPeople } from "./people.ts";
import { deriveToken, hashSecret } from "./secrets.ts";
import { createSignInLinks } from "./sign-in-links.ts";

/** Shortest time between two writes of one session's `last_seen_at`. */
const LAST_SEEN_STEP_MS = 60_000;

/** A signed-in browser. */
export interface OwnerSession {
  readonly id: string;
  readonly accountId: string;
  /** Must come back with every form of this browser. */
  readonly csrfToken: string;
  /** The signed-in person, with their present role. */
  readonly person: Person;
}

/** A signed-in browser as a list shows it. */
export type ListedSession = Omit<Selectable<Tables["owner_sessions"]>, "session_hash" | "passkey_id"> & {
  /** Name of the passkey that signed it in, while that is there. */
  readonly passkey: string | null;
};

/** Sign-in of the people of the service; an API key is never a session. */
export type OwnerSessions = ReturnType<typeof createOwnerSessions>;

/** Creates the owner sessions of a store. `now` gives milliseconds since the epoch. */
export function createOwnerSessions(store: Store, now: () => number) {
  const at = () => new Date(now()).toISOString();

  /** Sessions whose person was not removed; the role is the one of now. */
  const selectSessions = () =>
    selectPeople(store)
      .innerJoin("owner_sessions", "owner_sessions.person_id", "people.id")
      .where("expires_at", ">", at());

  async function touch(session_hash: string, lastSeen: string): Promise<void> {
    if (now() - Date.parse(lastSeen) < LAST_SEEN_STEP_MS) return;
    const touched = store.updateTable("owner_sessions").set({ last_seen_at: at() });
    // A full disk must not keep anybody from the page that says so.
    await touched
      .where("session_hash", "=", session_hash)
      .execute()
      .catch(() => {});
  }

  return {
    ...createSignInLinks(store, now),

    async find(sessionSecret: string): Promise<OwnerSession | undefined> {
      const hash = hashSecret(sessionSecret);
      const row = await selectSessions()
        .select(["owner_sessions.id as session", "last_seen_at", "account_id", "people.id", "name", "role"])
        .where("session_hash", "=", hash)
        .executeTakeFirst();
      if (row === undefined) return undefined;
      const { session, last_seen_at, account_id: accountId, ...person } = row;
      await touch(hash, last_seen_at);
      return { id: session, accountId, csrfToken: deriveToken(sessionSecret, "csrf"), person };
    },

    /** Signed-in browsers, the one seen last first. */
    list(accountId: string): Promise<ListedSession[]> {
      return selectSessions()
        .leftJoin("passkeys", "passkeys.id", "passkey_id")
        .select(["owner_sessions.id", "owner_sessions.person_id", "browser", "address", "passkeys.name as passkey"])
        .select(["owner_sessions.created_at", "last_seen_at", "expires_at"])
        .where("account_id", "=", accountId)
        .orderBy("last_seen_at", "desc")
        .orderBy("owner_sessions.id")
        .execute();
    },

    /** Signs a browser out, one of the person `of` when given; the id of its person, undefined when there is none such. */
    async endListed(
      accountId: string,
      { id, of }: { id: string; of?: string | undefined },
    ): Promise<string | undefined> {
      const people = store.selectFrom("people").select("id").where("account_id", "=", accountId);
      const ended = await store
        .deleteFrom("owner_sessions")
        .where("id", "=", id)
        .where("person_id", "in", of === undefined ? people : people.where("id", "=", of))
        .returning("person_id")
        .executeTakeFirst();
      return ended?.person_id;
    },

    /** Signs out every other browser of the person of a session. */
    async endOthers({ id, person }: OwnerSession): Promise<void> {
      const others = store.deleteFrom("owner_sessions").where("person_id", "=", person.id).where("id", "!=", id);
      await others.execute();
    },

    async end(sessionSecret: string): Promise<void> {
      await store.deleteFrom("owner_sessions").where("session_hash", "=", hashSecret(sessionSecret)).execute();
    },
  };
}
