import type { Adapter, AdapterPayload } from "oidc-provider";
import { addWaiting, markOpened } from "../auth/registration/waiting-session.ts";
import { hashSecret } from "../auth/secrets.ts";
import type { Store } from "../store/open-store.ts";

const TABLE = "oauth_records";
/** A client that nobody approved is forgotten after this long: registering needs no sign-in. */
const UNUSED_CLIENT_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** Records that anybody may add: clients wait for a first approval, requests for a decision. */
const WAITING: Readonly<Record<string, "client" | "authorization">> = {
  Client: "client",
  Interaction: "authorization",
};

/** An app with access through OAuth. */
export interface ApprovedApp {
  readonly clientId: string;
  /** As the app calls itself. */
  readonly name: string | undefined;
  readonly redirectUri: string | undefined;
  /** Last approval. */
  readonly approvedAt: string;
}

/**
 * Clients, approvals ("grants"), codes and refresh tokens, by the names of the OAuth library. Ids are secrets of
 * clients, so the table holds their hashes.
 */
export type OAuthRecords = ReturnType<typeof createOAuthRecords>;

/** A code or refresh token used a second time, in the form in which the library renders it. */
class ReplayError extends Error {
  override readonly name = "ReplayError";
  readonly error = "invalid_grant";
  readonly error_description = "this code or token was used already; the approval has been withdrawn";
  readonly status = 400;
  readonly statusCode = 400;
  readonly expose = true;

  constructor() {
    super("invalid_grant");
  }
}

/** Creates the records of a store. `now` gives milliseconds since the epoch. */
export function createOAuthRecords({ store, now }: { store: Store; now: () => number }) {
  const at = () => new Date(now()).toISOString();
  const rows = openRows(store, now);

  return {
    /** The library's store for one of its models. */
    adapter: (model: string) => createAdapter(rows, model, now),

    /** True for an approval that was neither withdrawn nor has expired. */
    async hasGrant(grantId: string): Promise<boolean> {
      return ((await rows.find("Grant", grantId))?.expires_at ?? "") > at();
    },

    /** Apps that the account's owner approved, the last approved first. */
    async listApps(accountId: string): Promise<ApprovedApp[]> {
      const apps = new Map<string, ApprovedApp>();
      for (const { payload, created_at: approvedAt } of await rows.listGrants(accountId)) {
        const { clientId = "" } = payload;
        if (apps.has(clientId)) continue;
        const client = (await rows.find("Client", clientId))?.payload;
        const redirectUri = client?.redirect_uris?.[0];
        apps.set(clientId, { clientId, name: client?.client_name, redirectUri, approvedAt });
      }
      return [...apps.values()];
    },

    /** Withdraws every approval of an app; false when there is none. */
    async endApp(accountId: string, clientId: string): Promise<boolean> {
      const grants = (await rows.listGrants(accountId)).filter(({ payload }) => payload.clientId === clientId);
      if (grants.length === 0) return false;
      // Codes and tokens of an approval are worth nothing without it.
      const ended = store.deleteFrom(TABLE).where("model", "=", "Grant");
      const hashes = grants.map(({ id_hash }) => id_hash);
      await ended.where("id_hash", "in", hashes).execute();
      return true;
    },

    /** Keeps a client for good, once the owner approved it. */
    async keepClient(clientId: string): Promise<void> {
      await rows.change("Client", clientId).set({ expires_at: null }).execute();
    },

    /** A request that has not ended; it has a `result` once the owner decided. */
    async findRequest(id: string): Promise<AdapterPayload | undefined> {
      const request = await rows.find("Interaction", id);
      return (request?.expires_at ?? "") > at() ? request?.payload : undefined;
    },

    /** Notes that the owner has seen a request: from now on it and its client are never dropped for others. */
    async open({ requestId, clientId }: { requestId: string; clientId: string }): Promise<void> {
      await markOpened(store, { kind: "authorization", hash: hashSecret(requestId), now: now() });
      await markOpened(store, { kind: "client", hash: hashSecret(clientId), now: now() });
    },
  };
}

type Stored<Row extends { payload: string }> = Omit<Row, "payload"> & { readonly payload: AdapterPayload };

function parseRow<Row extends { payload: string }>(row: Row): Stored<Row> {
  return { ...row, payload: JSON.parse(row.payload) as AdapterPayload };
}

function openRows(store: Store, now: () => number) {
  const at = (offset = 0) => new Date(now() + offset).toISOString();
  const select = (model: string) => store.selectFrom(TABLE).selectAll().where("model", "=", model);
  const change = (model: string, id: string) =>
    store.updateTable(TABLE).where("model", "=", model).where("id_hash", "=", hashSecret(id));

  async function find(model: string, id: string) {
    const row = await select(model).where("id_hash", "=", hashSecret(id)).executeTakeFirst();
    return row && parseRow(row);
  }

  async function destroy(model: string, id: string): Promise<void> {
    await store.deleteFrom(TABLE).where("model", "=", model).where("id_hash", "=", hashSecret(id)).execute();
  }

  return {
    change,
    find,
    destroy,

    /** The session with this public name. */
    async findSession(uid: string) {
      const row = await select("Session").where("session_uid", "=", uid).executeTakeFirst();
      return row && parseRow(row);
    },

    /** Adds or changes a record. `lifetime` is in milliseconds; 0 keeps it for good. */
    async save(model: string, id: string, { payload, lifetime }: { payload: AdapterPayload; lifetime: number }) {
      const row = {
        grant_id: payload.grantId ?? null,
        session_uid: model === "Session" ? (payload.uid ?? null) : null,
        payload: JSON.stringify(payload),
        expires_at: lifetime > 0 ? at(lifetime) : null,
      };
      const write = (to: Store) =>
        to
          .insertInto(TABLE)
          .values({ model, id_hash: hashSecret(id), ...row, consumed_at: null, created_at: at() })
          .onConflict((c) => c.columns(["model", "id_hash"]).doUpdateSet(row))
          .execute();
      const kind = WAITING[model];
      if (kind === undefined || (await find(model, id)) !== undefined) await write(store);
      else await addWaiting(store, { kind, now: now() }, write);
    },

    /** Removes an approval and everything that came from it. */
    async endGrant(grantId: string): Promise<void> {
      await destroy("Grant", grantId);
      await store.deleteFrom(TABLE).where("grant_id", "=", grantId).execute();
    },

    /** Live approvals of an account, newest first. */
    async listGrants(accountId: string) {
      const rows = await select("Grant").where("expires_at", ">", at()).orderBy("created_at", "desc").execute();
      return rows.map(parseRow).filter(({ payload }) => payload.accountId === accountId);
    },
  };
}

function createAdapter(rows: ReturnType<typeof openRows>, model: string, now: () => number): Adapter {
  return {
    async upsert(id, { jti: _jti, ...payload }, expiresIn = 0) {
      const lifetime = model === "Client" ? UNUSED_CLIENT_LIFETIME_MS : expiresIn * 1000;
      await rows.save(model, id, { payload, lifetime });
    },

    async find(id) {
      const row = await rows.find(model, id);
      if (row === undefined) return undefined;
      if (model !== "Client") {
        return { ...row.payload, jti: id, ...(row.consumed_at !== null && { consumed: row.consumed_at }) };
      }
      return row.expires_at === null || row.expires_at > new Date(now()).toISOString() ? row.payload : undefined;
    },

    findByUid: async (uid) => (await rows.findSession(uid))?.payload,
    // User codes belong to a flow that is off.
    findByUserCode: async () => undefined,

    /** A reused code or token revokes its grant (RFC 6749, 4.1.2). */
    async consume(id) {
      const used = rows.change(model, id).set({ consumed_at: Math.floor(now() / 1000) });
      if ((await used.where("consumed_at", "is", null).executeTakeFirst()).numUpdatedRows > 0n) return;
      const grantId = (await rows.find(model, id))?.payload.grantId;
      if (grantId !== undefined) await rows.endGrant(grantId);
      throw new ReplayError();
    },

    destroy: (id) => rows.destroy(model, id),
    revokeByGrantId: rows.endGrant,
  };
}
