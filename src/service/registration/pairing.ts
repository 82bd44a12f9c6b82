import type { PairExchangeReply, PairStartReply } from "../../wire/registration.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { createDisplayCode, createSecret, hashSecret } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { PairingRow } from "../store/schema.ts";
import { takeTurn } from "../store/turns.ts";
import { exchangePairing } from "./exchange-pairing.ts";
import { type PairingView, viewPairing } from "./pairing-view.ts";

/** Lifetime of a pairing session; the document does not show one. */
const PAIRING_LIFETIME_MS = 15 * 60 * 1000;
/** Sessions that may wait for approval at one time: starting one needs no key. */
const MAX_WAITING_SESSIONS = 100;
/** Suggested time between two polls of a session. */
const POLL_INTERVAL_MS = 2000;
/** Ended sessions are kept this long, so that a late browser tab still learns how it ended. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

/** "Registration: pairing flow". */
export interface Pairing {
  start(device: { deviceLabel: string | null; client: string | null }): Promise<PairStartReply>;
  find(sessionToken: string): Promise<PairingView | undefined>;
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
  const at = (offset = 0) => new Date(now() + offset).toISOString();

  return {
    async start({ deviceLabel, client }) {
      const sessionToken = createSecret();
      const verifier = createSecret();
      const session: PairingRow = {
        token_hash: hashSecret(sessionToken),
        verifier_hash: hashSecret(verifier),
        display_code: createDisplayCode(),
        device_label: deviceLabel,
        client,
        status: "awaiting_approval",
        wrong_verifiers: 0,
        account_id: null,
        api_key_id: null,
        created_at: at(),
        expires_at: at(PAIRING_LIFETIME_MS),
        approved_at: null,
        exchanged_at: null,
      };
      await store.transaction().execute(async (transaction) => {
        await takeTurn(transaction, "pairing");
        await makeRoom(transaction, at(), at(-KEPT_AFTER_EXPIRY_MS));
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

    async find(sessionToken) {
      const session = await store
        .selectFrom("pairing_sessions")
        .selectAll()
        .where("token_hash", "=", hashSecret(sessionToken))
        .executeTakeFirst();
      return session && viewPairing(session, now());
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

async function makeRoom(store: Store, now: string, keptSince: string): Promise<void> {
  await store.deleteFrom("pairing_sessions").where("expires_at", "<", keptSince).execute();
  const waiting = await store
    .selectFrom("pairing_sessions")
    .select((e) => e.fn.countAll().as("count"))
    .where("status", "=", "awaiting_approval")
    .where("expires_at", ">", now)
    .executeTakeFirstOrThrow();
  if (Number(waiting.count) < MAX_WAITING_SESSIONS) return;
  throw new ServiceError(
    429,
    "too_many_sessions",
    "Too many pairing sessions are waiting for approval; try again later.",
    {
      bare: true,
      retryable: true,
      retryAfterSeconds: 60,
    },
  );
}
