import type { Adapter, AdapterPayload } from "oidc-provider";
import { makeRoom } from "../registration/make-room.ts";
import type { Store } from "../store/open-store.ts";
import { inSoftTransaction } from "../store/soft-transaction.ts";
import { takeTurn } from "../store/turns.ts";
import { createOAuthRows } from "./oauth-rows.ts";

/** A client that nobody approved is forgotten after this long: registering needs no sign-in. */
const UNUSED_CLIENT_LIFETIME_MS = 24 * 60 * 60 * 1000;
/** What waits for the owner: clients for a first approval, requests for a decision. Nobody signs in for either. */
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

/** Clients, approvals ("grants"), codes and refresh tokens, by the names of the OAuth library. */
export interface OAuthRecords {
  /** The library's store for one of its models. */
  adapter(model: string): Adapter;
  /** True while the owner's approval of this id stands. */
  hasGrant(grantId: string): Promise<boolean>;
  /** Apps that the account's owner approved, the last approved first. */
  listApps(accountId: string): Promise<ApprovedApp[]>;
  /** Withdraws every approval of an app; false when there is none. */
  endApp(accountId: string, clientId: string): Promise<boolean>;
  /** Keeps a client for good, once the owner approved it. */
  keepClient(clientId: string): Promise<void>;
  /** From now on, as the owner has seen them, a request and its client do not give way to others. */
  open(o: { requestId: string; clientId: string }): Promise<void>;
}

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

/**
 * Creates the records of a store.
 *
 * @param o.readNetwork where the request that is being answered came from
 */
export function createOAuthRecords(o: { store: Store; now: () => number; readNetwork: () => string }): OAuthRecords {
  const { store, now } = o;
  const rows = createOAuthRows(store, now);
  const at = (offset = 0) => new Date(now() + offset).toISOString();

  async function find(model: string, id: string): Promise<AdapterPayload | undefined> {
    const row = await rows.find(model, id);
    if (row === undefined) return undefined;
    if (model === "Client") return row.expiresAt === null || row.expiresAt > at() ? row.payload : undefined;
    return { ...row.payload, jti: id, ...(row.consumedAt !== null && { consumed: row.consumedAt }) };
  }

  async function grantsOf(accountId: string) {
    return (await rows.listGrants(at())).filter(({ payload }) => payload.accountId === accountId);
  }

  async function upsert(model: string, id: string, value: AdapterPayload, expiresIn?: number): Promise<void> {
    const { jti: _jti, ...payload } = value;
    const lifetime = model === "Client" ? UNUSED_CLIENT_LIFETIME_MS : (expiresIn ?? 0) * 1000;
    const row = { payload, expiresAt: lifetime > 0 ? at(lifetime) : null, network: o.readNetwork() };
    const kind = WAITING[model];
    if (kind === undefined || (await rows.find(model, id)) !== undefined) return rows.save(model, id, row);
    // Whoever loses one by a power cut starts another.
    await inSoftTransaction(store, async (transaction) => {
      await takeTurn(transaction, "oauth");
      await makeRoom(transaction, kind, now());
      await createOAuthRows(transaction, now).save(model, id, row);
    });
  }

  /** Of two that use one code or token at the same time one gets through, and the approval ends for both. */
  async function consume(model: string, id: string): Promise<void> {
    if (await rows.consume(model, id)) return;
    const used = await rows.find(model, id);
    if (used?.payload.grantId !== undefined) await rows.endGrant(used.payload.grantId);
    throw new ReplayError();
  }

  return {
    adapter: (model) => ({
      upsert: (id, payload, expiresIn) => upsert(model, id, payload, expiresIn),
      find: (id) => find(model, id),
      findByUid: async (uid) => (await rows.findSession(uid))?.payload,
      // User codes belong to a flow that is off.
      findByUserCode: async () => undefined,
      consume: (id) => consume(model, id),
      destroy: (id) => rows.destroy(model, id),
      revokeByGrantId: rows.endGrant,
    }),

    async hasGrant(grantId) {
      const grant = await rows.find("Grant", grantId);
      return grant !== undefined && grant.expiresAt !== null && grant.expiresAt > at();
    },

    async listApps(accountId) {
      const apps = new Map<string, ApprovedApp>();
      for (const { payload, createdAt: approvedAt } of await grantsOf(accountId)) {
        const { clientId = "" } = payload;
        if (apps.has(clientId)) continue;
        const client = (await rows.find("Client", clientId))?.payload;
        apps.set(clientId, {
          clientId,
          name: client?.client_name,
          redirectUri: client?.redirect_uris?.[0],
          approvedAt,
        });
      }
      return [...apps.values()];
    },

    async endApp(accountId, clientId) {
      const grants = (await grantsOf(accountId)).filter(({ payload }) => payload.clientId === clientId);
      if (grants.length > 0) await rows.endGrants(grants.map(({ idHash }) => idHash));
      return grants.length > 0;
    },

    keepClient: (clientId) => rows.keepForGood("Client", clientId),

    async open({ requestId, clientId }) {
      await rows.open("Interaction", requestId);
      await rows.open("Client", clientId);
    },
  };
}
