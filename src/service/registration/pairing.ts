import type { PairExchangeReply, PairStartReply, PairStatus } from "../../wire/registration.ts";
import type { ApiKeys } from "../auth/api-keys.ts";
import { createDisplayCode, createSecret, hashSecret, isSameHash } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { PairingRow } from "../store/schema.ts";

/** Lifetime of a pairing session; the document does not show one. */
export const PAIRING_LIFETIME_MS = 15 * 60 * 1000;
/** A wrong verifier this many times ends the session. */
export const MAX_WRONG_VERIFIERS = 5;
/** Sessions that may wait for approval at one time: starting one needs no key. */
export const MAX_WAITING_SESSIONS = 100;
/** Suggested time between two polls of a session. */
const POLL_INTERVAL_MS = 2000;
/** Ended sessions are kept this long, so that a late browser tab still learns how it ended. */
const KEPT_AFTER_EXPIRY_MS = 24 * 60 * 60 * 1000;

/** A pairing session as pages and polls see it: nothing in it is secret. */
export interface PairingView {
  readonly status: PairStatus;
  readonly displayCode: string;
  readonly deviceLabel: string | null;
  readonly client: string | null;
  readonly createdAt: string;
  readonly expiresAt: string;
}

/** "Registration: pairing flow". */
export interface Pairing {
  start(device: { deviceLabel: string | null; client: string | null }): Promise<PairStartReply>;
  find(sessionToken: string): Promise<PairingView | undefined>;
  /** Approves or declines for the signed-in owner; false when the session no longer waits. */
  decide(sessionToken: string, accountId: string, decision: "approve" | "decline"): Promise<boolean>;
  /**
   * Hands out the key, once. The key is stored (hashed) and the session closed in one transaction before
   * the reply exists, so a crash can lose the reply but never show a key twice.
   *
   * @throws ServiceError bare: 404 unknown, 410 expired, 400 wrong verifier, 409 declined, not approved or already exchanged.
   */
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
  const load = (sessionToken: string) =>
    store
      .selectFrom("pairing_sessions")
      .selectAll()
      .where("token_hash", "=", hashSecret(sessionToken))
      .executeTakeFirst();

  return {
    async start({ deviceLabel, client }) {
      await makeRoom(store, at(), at(-KEPT_AFTER_EXPIRY_MS));
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
      await store.insertInto("pairing_sessions").values(session).execute();
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
      const session = await load(sessionToken);
      return session && toView(session, now());
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

    async exchange(sessionToken, verifier) {
      const session = await load(sessionToken);
      refuseEnded(session, now());
      if (!isSameHash(hashSecret(verifier), session.verifier_hash)) throw await countWrongVerifier(store, session);
      return store.transaction().execute(async (transaction) => {
        const closed = await transaction
          .updateTable("pairing_sessions")
          .set({ status: "exchanged", exchanged_at: at() })
          .where("token_hash", "=", session.token_hash)
          .where("status", "=", "approved")
          .where("expires_at", ">", at())
          .returningAll()
          .executeTakeFirst();
        if (closed?.account_id == null) throw await explainNotApproved(transaction, session.token_hash);
        const label = closed.device_label ?? "Unnamed device";
        const key = await o.keys.issue({ accountId: closed.account_id, label, client: closed.client }, transaction);
        await transaction
          .updateTable("pairing_sessions")
          .set({ api_key_id: key.apiKeyId })
          .where("token_hash", "=", session.token_hash)
          .execute();
        return { ...key, session: describeExchanged(closed) };
      });
    },
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

function refuseEnded(session: PairingRow | undefined, now: number): asserts session is PairingRow {
  if (session === undefined) {
    throw bareError(404, "This pairing session is unknown. Start pairing again.");
  }
  const { status } = toView(session, now);
  if (status === "expired") throw bareError(410, "This pairing session has expired. Start pairing again.");
  if (status === "denied") throw bareError(409, "This pairing session was declined. Start pairing again.");
}

async function countWrongVerifier(store: Store, session: PairingRow): Promise<ServiceError> {
  // Counted by the database: parallel guesses must not share one attempt.
  const { wrong_verifiers } = await store
    .updateTable("pairing_sessions")
    .set((e) => ({ wrong_verifiers: e("wrong_verifiers", "+", 1) }))
    .where("token_hash", "=", session.token_hash)
    .returning("wrong_verifiers")
    .executeTakeFirstOrThrow();
  if (wrong_verifiers >= MAX_WRONG_VERIFIERS) {
    await store
      .updateTable("pairing_sessions")
      .set({ status: "denied" })
      .where("token_hash", "=", session.token_hash)
      .where("status", "in", ["awaiting_approval", "approved"])
      .execute();
  }
  return bareError(400, "The verifier does not belong to this pairing session.");
}

async function explainNotApproved(store: Store, tokenHash: string): Promise<ServiceError> {
  const { status } = await store
    .selectFrom("pairing_sessions")
    .select("status")
    .where("token_hash", "=", tokenHash)
    .executeTakeFirstOrThrow();
  return status === "exchanged"
    ? bareError(409, "This pairing session was already exchanged; its key is shown only once. Start pairing again.")
    : bareError(409, "This pairing session is not approved yet. Open its approval page and approve the device.");
}

function bareError(status: 400 | 404 | 409 | 410, message: string): ServiceError {
  return new ServiceError(status, "pairing_refused", message, { bare: true });
}

function toView(session: PairingRow, now: number): PairingView {
  const isOpen = session.status === "awaiting_approval" || session.status === "approved";
  return {
    status: isOpen && Date.parse(session.expires_at) <= now ? "expired" : session.status,
    displayCode: session.display_code,
    deviceLabel: session.device_label,
    client: session.client,
    createdAt: session.created_at,
    expiresAt: session.expires_at,
  };
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
