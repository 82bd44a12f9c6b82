import type { AdapterPayload } from "oidc-provider";
import { hashSecret } from "../auth/secrets.ts";
import type { Store } from "../store/open-store.ts";

/** What is known of one record besides its payload. */
interface OAuthRow {
  readonly payload: AdapterPayload;
  /** Seconds since the epoch. */
  readonly consumedAt: number | null;
  readonly expiresAt: string | null;
}

/** The table of OAuth records. Ids are secrets of clients, so they are kept as hashes. */
export interface OAuthRows {
  find(model: string, id: string): Promise<OAuthRow | undefined>;
  /** The session with this public name. */
  findSession(uid: string): Promise<OAuthRow | undefined>;
  /** Makes or changes a record; `network` is kept of a new one. */
  save(
    model: string,
    id: string,
    row: { payload: AdapterPayload; expiresAt: string | null; network: string },
  ): Promise<void>;
  /** True for exactly one of those that try. */
  consume(model: string, id: string): Promise<boolean>;
  destroy(model: string, id: string): Promise<void>;
  /** Removes an approval and everything that came from it. */
  endGrant(grantId: string): Promise<void>;
  /** Approvals that have not expired at `time`, newest first. */
  listGrants(time: string): Promise<{ payload: AdapterPayload; idHash: string; createdAt: string }[]>;
  /** Removes approvals by the hashes of their ids; what came from them is worth nothing without them. */
  endGrants(idHashes: readonly string[]): Promise<void>;
  keepForGood(model: string, id: string): Promise<void>;
  /** Notes that the owner has seen a record. */
  open(model: string, id: string): Promise<void>;
}

/** Opens the table. */
export function createOAuthRows(store: Store, now: () => number): OAuthRows {
  const table = "oauth_records";
  const change = (model: string, id: string) =>
    store.updateTable(table).where("model", "=", model).where("id_hash", "=", hashSecret(id));

  async function destroy(model: string, id: string): Promise<void> {
    await store.deleteFrom(table).where("model", "=", model).where("id_hash", "=", hashSecret(id)).execute();
  }

  const select = (model: string) =>
    store.selectFrom(table).select(["payload", "consumed_at", "expires_at"]).where("model", "=", model);

  return {
    async find(model, id) {
      return readRow(await select(model).where("id_hash", "=", hashSecret(id)).executeTakeFirst());
    },

    async findSession(uid) {
      return readRow(await select("Session").where("session_uid", "=", uid).executeTakeFirst());
    },

    async save(model, id, { payload, expiresAt, network }) {
      const row = {
        grant_id: payload.grantId ?? null,
        session_uid: model === "Session" ? (payload.uid ?? null) : null,
        payload: JSON.stringify(payload),
        expires_at: expiresAt,
      };
      const created_at = new Date(now()).toISOString();
      await store
        .insertInto(table)
        .values({ model, id_hash: hashSecret(id), ...row, consumed_at: null, created_at, network })
        .onConflict((c) => c.columns(["model", "id_hash"]).doUpdateSet(row))
        .execute();
    },

    async consume(model, id) {
      const used = change(model, id).set({ consumed_at: Math.floor(now() / 1000) });
      return (await used.where("consumed_at", "is", null).executeTakeFirst()).numUpdatedRows > 0n;
    },

    destroy,

    async endGrant(grantId) {
      await destroy("Grant", grantId);
      await store.deleteFrom(table).where("grant_id", "=", grantId).execute();
    },

    async listGrants(time) {
      const live = store.selectFrom(table).selectAll().where("model", "=", "Grant").where("expires_at", ">", time);
      const rows = await live.orderBy("created_at", "desc").execute();
      return rows.map(({ id_hash: idHash, payload, created_at: createdAt }) => {
        return { idHash, createdAt, payload: JSON.parse(payload) as AdapterPayload };
      });
    },

    async endGrants(idHashes) {
      await store
        .deleteFrom(table)
        .where("model", "=", "Grant")
        .where("id_hash", "in", [...idHashes])
        .execute();
    },

    async keepForGood(model, id) {
      await change(model, id).set({ expires_at: null }).execute();
    },

    async open(model, id) {
      const opened = change(model, id).set({ opened_at: new Date(now()).toISOString() });
      await opened.where("opened_at", "is", null).execute();
    },
  };
}

function readRow(
  row: { payload: string; consumed_at: number | null; expires_at: string | null } | undefined,
): OAuthRow | undefined {
  if (row === undefined) return undefined;
  const payload = JSON.parse(row.payload) as AdapterPayload;
  return { payload, consumedAt: row.consumed_at, expiresAt: row.expires_at };
}
