import { createId } from "../../shared/base/ids.ts";
import { API_KEY_HEADER, API_KEY_PREFIX } from "../../shared/wire/constants.ts";
import type { Store } from "../store/open-store.ts";
import type { ApiKeyRow } from "../store/schema.ts";
import { createKeep, type StoreState, type StoreStates } from "../store/store-states.ts";
import { isExpired } from "./grants.ts";
import { createSecret, hashSecret } from "./secrets.ts";

/** The account and key a request was made with. */
export interface Principal {
  readonly accountId: string;
  readonly apiKeyId: string;
}

/** Why a key is refused. */
export type KeyProblem = "unknown" | "expired";

/** Keys of devices ("Authentication"). */
export type ApiKeys = ReturnType<typeof createApiKeys>;

/** A part of the list of keys. */
interface KeyPage {
  readonly limit?: number | undefined;
  /** The last key of the part before. */
  readonly after?: { readonly time: string; readonly id: string } | undefined;
}

/** Shortest time between two writes of one key's `last_used_at`. */
const LAST_USED_STEP_MS = 60_000;

/** Live keys that are kept, with the end that their owner gave them. */
const MAX_KEPT = 1000;

/** Creates the keys of a store. `now` gives milliseconds since the epoch. */
export function createApiKeys(store: Store, states: StoreStates, now: () => number) {
  const touched = new Map<string, number>();
  const keep = createKeep<Awaited<ReturnType<typeof findLive>>>(MAX_KEPT);

  async function touch(apiKeyId: string, time: number): Promise<void> {
    touched.set(apiKeyId, time);
    const last_used_at = new Date(time).toISOString();
    await store.updateTable("api_keys").set({ last_used_at }).where("id", "=", apiKeyId).execute();
  }

  return {
    /**
     * Makes a key, which takes over the grant that was written for `session`; pass `db` to do it inside a transaction.
     * `apiKey` exists only here: the store keeps its SHA-256.
     */
    async issue(key: { accountId: string; label: string; client: string | null; session?: string }, db = store) {
      const { accountId, label, client, session } = key;
      const apiKey = `${API_KEY_PREFIX}${createSecret()}`;
      const id = createId("key");
      const row: ApiKeyRow = {
        id,
        account_id: accountId,
        key_hash: hashSecret(apiKey),
        last_four: apiKey.slice(-4),
        label,
        client,
        created_at: new Date(now()).toISOString(),
        last_used_at: null,
        revoked_at: null,
      };
      await db.insertInto("api_keys").values(row).execute();
      if (session !== undefined) {
        await db.updateTable("grants").set({ subject: id }).where("subject", "=", session).execute();
      }
      return { apiKey, apiKeyId: id };
    },

    /**
     * The principal of a request; `expired` when the time of its key is over, `unknown` when it is missing, malformed,
     * revoked or none of ours.
     *
     * @param state of the store, where the caller has just looked
     */
    async authenticate(headers: Headers, state?: StoreState): Promise<Principal | KeyProblem> {
      const sent = readKey(headers);
      if (sent === undefined) return "unknown";
      const hash = hashSecret(sent);
      const row = await keep(state ?? (await states.read()), hash, () => findLive(store, hash));
      if (row === undefined) return "unknown";
      const time = now();
      if (isExpired(row.expires_at, time)) return "expired";
      if (time - (touched.get(row.id) ?? 0) >= LAST_USED_STEP_MS) await touch(row.id, time);
      return { accountId: row.account_id, apiKeyId: row.id };
    },

    /** The hash of a live key, which its device can make too: it proves that this is the service that issued it. */
    async findHash(apiKeyId: string): Promise<string | undefined> {
      const rows = selectLiveKeys(store).select(["key_hash", "grants.expires_at"]).where("id", "=", apiKeyId);
      const row = await rows.executeTakeFirst();
      return row === undefined || isExpired(row.expires_at, now()) ? undefined : row.key_hash;
    },

    ...createKeyList(store),

    /** False when there is no such live key. */
    async revoke(accountId: string, apiKeyId: string): Promise<boolean> {
      const result = await store
        .updateTable("api_keys")
        .set({ revoked_at: new Date(now()).toISOString() })
        .where("id", "=", apiKeyId)
        .where("account_id", "=", accountId)
        .where("revoked_at", "is", null)
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },
  };
}

function selectLiveKeys(store: Store) {
  return store
    .selectFrom("api_keys")
    .leftJoin("grants", "grants.subject", "api_keys.id")
    .where("revoked_at", "is", null);
}

function findLive(store: Store, hash: string) {
  return selectLiveKeys(store)
    .select(["id", "account_id", "grants.expires_at"])
    .where("key_hash", "=", hash)
    .executeTakeFirst();
}

/** Read access to the live keys. */
function createKeyList(store: Store) {
  const selectLive = (accountId: string) =>
    store.selectFrom("api_keys").where("account_id", "=", accountId).where("revoked_at", "is", null);

  return {
    /** Live keys, newest first: all, or `limit` of them after a place. */
    list(accountId: string, { limit, after }: KeyPage = {}): Promise<ApiKeyRow[]> {
      return selectLive(accountId)
        .selectAll()
        .$if(after !== undefined, (all) =>
          all.where((e) => e(e.refTuple("created_at", "id"), "<", e.tuple(after?.time ?? "", after?.id ?? ""))),
        )
        .$if(limit !== undefined, (all) => all.limit(limit ?? 0))
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .execute();
    },

    /** How many live keys there are. */
    async count(accountId: string): Promise<number> {
      const counted = selectLive(accountId).select((e) => e.fn.countAll<number | string>().as("count"));
      return Number((await counted.executeTakeFirstOrThrow()).count);
    },

    /** The live ones of these keys. */
    async listById(accountId: string, ids: readonly string[]): Promise<ApiKeyRow[]> {
      if (ids.length === 0) return [];
      return selectLive(accountId).selectAll().where("id", "in", ids).execute();
    },
  };
}

/** The key of a request: the explicit header wins, also when it is wrong ("Authentication" 2). */
function readKey(headers: Headers): string | undefined {
  const explicit = headers.get(API_KEY_HEADER);
  const key = explicit ?? /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  return key?.startsWith(API_KEY_PREFIX) ? key : undefined;
}
