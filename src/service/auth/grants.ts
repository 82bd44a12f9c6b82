import { type KeyScopes, keyScopesSchema } from "../../shared/wire/key-scopes.ts";
import { ServiceError } from "../service-error.ts";
import { jsonText, type Store } from "../store/open-store.ts";

/** Ids of OAuth clients begin so where they stand beside ids of keys. */
const OAUTH = "oauth_";

/** The id of an OAuth client beside the ids of keys. */
export function toSubject(clientId: string): string {
  return `${OAUTH}${clientId}`;
}

/** The OAuth client of such an id; undefined for a key. */
export function readClientId(subject: string): string | undefined {
  return subject.startsWith(OAUTH) ? subject.slice(OAUTH.length) : undefined;
}

/** The rights that the owner gave to a key or OAuth client. */
export interface Grant {
  /** Empty for one without limits. */
  readonly scopes: KeyScopes;
  /** ISO time; null for one without an end. */
  readonly expiresAt: string | null;
}

/** The grants of a store, by the id of the key or OAuth client. */
export type Grants = ReturnType<typeof createGrants>;

const DAY_MS = 24 * 60 * 60 * 1000;
const scopesSchema = jsonText.pipe(keyScopesSchema);

/** A column of scopes; empty for none. Throws for text that is none. */
export function readScopes(text: string | null): KeyScopes {
  return text === null ? {} : scopesSchema.parse(text);
}

function toGrant(row: { readonly scopes: string; readonly expires_at: string | null } | undefined): Grant {
  return row === undefined
    ? { scopes: {}, expiresAt: null }
    : { scopes: readScopes(row.scopes), expiresAt: row.expires_at };
}

/** Opens the grants. `now` gives milliseconds since the epoch. */
export function createGrants(store: Store, now: () => number) {
  return {
    /** Of a subject that nothing was chosen for, the grant without limits. Throws for one that cannot be read. */
    async read(subject: string): Promise<Grant> {
      const rows = store.selectFrom("grants").select(["scopes", "expires_at"]).where("subject", "=", subject);
      return toGrant(await rows.executeTakeFirst());
    },

    /** Those of several subjects, which each are read as {@link Grants.read} does. */
    async readAll(subjects: readonly string[]): Promise<ReadonlyMap<string, Grant>> {
      if (subjects.length === 0) return new Map();
      const rows = await store.selectFrom("grants").selectAll().where("subject", "in", subjects).execute();
      const known = new Map(rows.map((row) => [row.subject, row]));
      return new Map(subjects.map((subject) => [subject, toGrant(known.get(subject))]));
    },

    /**
     * Replaces a grant, from the next call on. The subject may be a waiting session, see `ApiKeys.issue`.
     *
     * @param o.expiresAt default: `expiresInDays` from now
     * @param o.db to do it inside a transaction
     */
    async write(subject: string, scopes: KeyScopes, o: { expiresAt?: string | null; db?: Store } = {}): Promise<void> {
      const { expiresInDays: days } = scopes;
      const { expiresAt = days === undefined ? null : new Date(now() + days * DAY_MS).toISOString(), db = store } = o;
      const row = { scopes: JSON.stringify(scopes), expires_at: expiresAt };
      await db
        .insertInto("grants")
        .values({ subject, ...row })
        .onConflict((conflict) => conflict.column("subject").doUpdateSet(row))
        .execute();
    },
  };
}

/** True once the time has come at `now`, in milliseconds since the epoch. */
export function isExpired(expiresAt: string | null, now: number): expiresAt is string {
  return expiresAt !== null && Date.parse(expiresAt) <= now;
}

/** The refusal of a key or OAuth client whose time is over: 401 `unauthorized`. */
export function keyExpired(o: { bare: boolean }): ServiceError {
  return new ServiceError(401, "unauthorized", "This API key has expired: its owner gave it an end.", {
    type: "auth",
    bare: o.bare,
    hint: "Pair this device again, or let the owner give the key more time on the Devices page.",
  });
}
