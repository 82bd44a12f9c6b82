import type { PairExchangeReply, PairStartReply } from "../../wire/registration.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { createDisplayCode, createSecret, hashSecret } from "../auth/secrets.ts";
import type { Store } from "../store/open-store.ts";
import type { PairingRow } from "../store/schema.ts";
import { inSoftTransaction } from "../store/soft-transaction.ts";
import { takeTurn } from "../store/turns.ts";
import { exchangePairing } from "./exchange-pairing.ts";
import { makeRoom } from "./make-room.ts";
import { type PairingView, viewPairing } from "./pairing-view.ts";
import { readNetwork } from "./read-network.ts";

/** Lifetime of a pairing session; the document does not show one. */
const PAIRING_LIFETIME_MS = 15 * 60 * 1000;
/** Suggested time between two polls of a session. */
const POLL_INTERVAL_MS = 2000;

/** "Registration: pairing flow". */
export interface Pairing {
  /** @param address network address of the caller */
  start(device: { deviceLabel: string | null; client: string | null }, address: string): Promise<PairStartReply>;
  find(sessionToken: string): Promise<PairingView | undefined>;
  /** {@link Pairing.find} for the owner's page: from then on the session does not give way to others. */
  open(sessionToken: string): Promise<PairingView | undefined>;
  /** Approves or declines for the signed-in owner; false when the session no longer waits. */
  decide(sessionToken: string, accountId: string, decision: "approve" | "decline"): Promise<boolean>;
  /** Hands out the key, once; see {@link exchangePairing}. */
  exchange(sessionToken: string, verifier: string): Promise<PairExchangeReply>;
}

/** Creates the pairing flow. `pairUrl` builds the address a human opens for a session token. */
export function createPairing(o: {
  store: Store;
  keys: ApiKeys;
  now: () => number;
  pairUrl: (sessionToken: string) => string;
}): Pairing {
  const { store, now } = o;
  const at = () => new Date(now()).toISOString();

  async function find(sessionToken: string): Promise<PairingView | undefined> {
    const session = await store
      .selectFrom("pairing_sessions")
      .selectAll()
      .where("token_hash", "=", hashSecret(sessionToken))
      .executeTakeFirst();
    return session && viewPairing(session, now());
  }

  return {
    async start({ deviceLabel, client }, address) {
      const sessionToken = createSecret();
      const verifier = createSecret();
      const session = createSession({ deviceLabel, client, address, sessionToken, verifier, now: now() });
      // Whoever loses one by a power cut starts another.
      await inSoftTransaction(store, async (transaction) => {
        await takeTurn(transaction, "pairing");
        await makeRoom(transaction, "pairing", now());
        await transaction.insertInto("pairing_sessions").values(session).execute();
      });
      return {
        sessionToken,
        pairUrl: o.pairUrl(sessionToken),
        verifier,
        expiresAt: session.expires_at,
        displayCode: session.display_code,
        deviceLabel,
        status: session.status,
        pollIntervalMs: POLL_INTERVAL_MS,
      };
    },

    find,

    async open(sessionToken) {
      await store
        .updateTable("pairing_sessions")
        .set({ opened_at: at() })
        .where("token_hash", "=", hashSecret(sessionToken))
        .where("opened_at", "is", null)
        .execute();
      return find(sessionToken);
    },

    async decide(sessionToken, accountId, decision) {
      const change =
        decision === "approve"
          ? { status: "approved" as const, account_id: accountId, approved_at: at() }
          : { status: "denied" as const };
      const result = await store
        .updateTable("pairing_sessions")
        .set(change)
        .where("token_hash", "=", hashSecret(sessionToken))
        .where("status", "=", "awaiting_approval")
        .where("expires_at", ">", at())
        .executeTakeFirst();
      return result.numUpdatedRows > 0n;
    },

    exchange: (sessionToken, verifier) => exchangePairing(o, { sessionToken, verifier }),
  };
}

function createSession(o: {
  deviceLabel: string | null;
  client: string | null;
  address: string;
  sessionToken: string;
  verifier: string;
  now: number;
}): PairingRow {
  return {
    token_hash: hashSecret(o.sessionToken),
    verifier_hash: hashSecret(o.verifier),
    display_code: createDisplayCode(),
    device_label: o.deviceLabel,
    client: o.client,
    status: "awaiting_approval",
    wrong_verifiers: 0,
    account_id: null,
    api_key_id: null,
    created_at: new Date(o.now).toISOString(),
    expires_at: new Date(o.now + PAIRING_LIFETIME_MS).toISOString(),
    approved_at: null,
    exchanged_at: null,
    network: readNetwork(o.address),
    opened_at: null,
  };
}
