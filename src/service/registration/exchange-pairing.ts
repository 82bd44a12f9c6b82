import type { PairExchangeReply } from "../../wire/registration.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { hashSecret, isSameHash } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { PairingRow } from "../store/schema.ts";
import { viewPairing } from "./pairing-view.ts";

/** A wrong verifier this many times ends the session. */
const MAX_WRONG_VERIFIERS = 5;

/**
 * Hands out the key, once. The key is stored (hashed) and the session closed in one transaction before the reply
 * exists, so a crash can lose the reply but never show a key twice.
 *
 * @throws ServiceError bare: 404 unknown, 410 expired, 400 wrong verifier, 409 denied, not approved or already exchanged.
 */
export async function exchangePairing(
  { store, keys, now }: { store: Store; keys: ApiKeys; now: () => number },
  { sessionToken, verifier }: { sessionToken: string; verifier: string },
): Promise<PairExchangeReply> {
  const tokenHash = hashSecret(sessionToken);
  const session = await store
    .selectFrom("pairing_sessions")
    .selectAll()
    .where("token_hash", "=", tokenHash)
    .executeTakeFirst();
  refuseEnded(session, now());
  if (!isSameHash(hashSecret(verifier), session.verifier_hash)) throw await countWrongVerifier(store, tokenHash);
  const at = new Date(now()).toISOString();
  return store.transaction().execute(async (transaction) => {
    const closed = await transaction
      .updateTable("pairing_sessions")
      .set({ status: "exchanged", exchanged_at: at })
      .where("token_hash", "=", tokenHash)
      .where("status", "=", "approved")
      .where("expires_at", ">", at)
      .returningAll()
      .executeTakeFirst();
    if (closed?.account_id == null) throw await explainNotApproved(transaction, tokenHash);
    const label = closed.device_label ?? "Unnamed device";
    const key = await keys.issue({ accountId: closed.account_id, label, client: closed.client }, transaction);
    await transaction
      .updateTable("pairing_sessions")
      .set({ api_key_id: key.apiKeyId })
      .where("token_hash", "=", tokenHash)
      .execute();
    return { ...key, session: describeExchanged(closed) };
  });
}

function refuseEnded(session: PairingRow | undefined, now: number): asserts session is PairingRow {
  if (session === undefined) throw refuse(404, "This pairing session is unknown. Start pairing again.");
  const { status } = viewPairing(session, now);
  if (status === "expired") throw refuse(410, "This pairing session has expired. Start pairing again.");
  if (status === "denied") throw refuse(409, "This pairing session was denied. Start pairing again.");
}

async function countWrongVerifier(store: Store, tokenHash: string): Promise<ServiceError> {
  // Counted by the database: parallel guesses must not share one attempt.
  const { wrong_verifiers } = await store
    .updateTable("pairing_sessions")
    .set((e) => ({ wrong_verifiers: e("wrong_verifiers", "+", 1) }))
    .where("token_hash", "=", tokenHash)
    .returning("wrong_verifiers")
    .executeTakeFirstOrThrow();
  if (wrong_verifiers >= MAX_WRONG_VERIFIERS) {
    await store
      .updateTable("pairing_sessions")
      .set({ status: "denied" })
      .where("token_hash", "=", tokenHash)
      .where("status", "in", ["awaiting_approval", "approved"])
      .execute();
  }
  return refuse(400, "The verifier does not belong to this pairing session.");
}

async function explainNotApproved(store: Store, tokenHash: string): Promise<ServiceError> {
  const { status } = await store
    .selectFrom("pairing_sessions")
    .select("status")
    .where("token_hash", "=", tokenHash)
    .executeTakeFirstOrThrow();
  return status === "exchanged"
    ? refuse(409, "This pairing session was already exchanged; its key is shown only once. Start pairing again.")
    : refuse(409, "This pairing session is not approved yet. Open its approval page and approve the device.");
}

function refuse(status: 400 | 404 | 409 | 410, message: string): ServiceError {
  return new ServiceError(status, "pairing_refused", message, { bare: true });
}

function describeExchanged(session: PairingRow): NonNullable<PairExchangeReply["session"]> {
  return {
    displayCode: session.display_code,
    deviceLabel: session.device_label,
    status: session.status,
    expiresAt: session.expires_at,
    approvedAt: session.approved_at,
    exchangedAt: session.exchanged_at,
  };
}
