import type { Adapter, AdapterPayload } from "oidc-provider";
import { OAUTH_KEPT_AFTER_EXPIRY_MS } from "../store/forget-expired.ts";
import type { Store } from "../store/open-store.ts";
import { createOAuthRows } from "./oauth-rows.ts";

/** A client that nobody approved is forgotten after this long: registering needs no sign-in. */
const UNUSED_CLIENT_LIFETIME_MS = 24 * 60 * 60 * 1000;
/**
 * Clients that may wait for a first approval at one time, and requests that may wait for a decision; beyond, the oldest
 * is forgotten. Nobody signs in for either.
 */
const MAX_WAITING: Readonly<Record<string, number>> = { Client: 500, Interaction: 500 };

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

/** Creates the records of a store. */
export function createOAuthRecords({ store, now }: { store: Store; now: () => number }): OAuthRecords {
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
    const endedBefore = at(-OAUTH_KEPT_AFTER_EXPIRY_MS);
    const { jti: _jti, ...payload } = value;
    const lifetime = model === "Client" ? UNUSED_CLIENT_LIFETIME_MS : (expiresIn ?? 0) * 1000;
    await rows.save(model, id, { payload, expiresAt: lifetime > 0 ? at(lifetime) : null });
    const longest = MAX_WAITING[model];
    if (longest !== undefined) await rows.makeRoom({ endedBefore, model, longest });
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
  };
}
