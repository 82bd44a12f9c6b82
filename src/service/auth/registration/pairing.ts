import { cleanText } from "../../../shared/base/text.ts";
import type { KeyScopes } from "../../../shared/wire/key-scopes.ts";
import {
  type PairExchangeReply,
  type PairStartReply,
  type PairStatus,
  pairStartRequestSchema,
} from "../../../shared/wire/registration.ts";
import { refuseBare, type ServiceError } from "../../service-error.ts";
import type { Store } from "../../store/open-store.ts";
import type { PairingRow } from "../../store/schema.ts";
import type { ApiKeys } from "../api-keys.ts";
import { type Grants, readScopes } from "../grants.ts";
import { createDisplayCode, createSecret, hashSecret, isSameHash } from "../secrets.ts";
import { addWaiting, decideWaiting, type KeyDecision, markOpened, readSessionStatus } from "./waiting-session.ts";

/** Lifetime of a pairing session; the document does not show one. */
const PAIRING_LIFETIME_MS = 15 * 60 * 1000;
const POLL_INTERVAL_MS = 2000;
const MAX_WRONG_VERIFIERS = 5;
/** Longest device label and client name, in characters; longer ones are cut. */
const MAX_LABEL = 80;
const MAX_CLIENT = 40;

/** A pairing session, with its status at the time it was read. */
export type PairingSession = Omit<PairingRow, "status" | "scopes"> & {
  readonly status: PairStatus;
  /** Requested limits; once approved, the granted ones. */
  readonly scopes: KeyScopes;
};

/** "Registration: pairing flow". */
export type Pairing = ReturnType<typeof createPairing>;

interface PairingParts {
  readonly store: Store;
  readonly keys: ApiKeys;
  readonly grants: Grants;
  readonly now: () => number;
  /** Builds the address that a human opens for a session token. */
  readonly pairUrl: (sessionToken: string) => string;
}

/** Creates the pairing flow. */
export function createPairing(parts: PairingParts) {
  const { store, now } = parts;

  async function find(sessionToken: string): Promise<PairingSession | undefined> {
    const session = await findRow(store, hashSecret(sessionToken));
    return session && { ...session, scopes: readScopes(session.scopes), status: readSessionStatus(session, now()) };
  }

  return {
    /**
     * Starts a session from the optional body of the request, whose scopes are checked already.
     *
     * @throws ServiceError 400, bare, when `deviceLabel` or `client` is not a text.
     */
    async start(body: unknown, scopes?: KeyScopes): Promise<PairStartReply> {
      const [sessionToken, verifier] = [createSecret(), createSecret()];
      const session = createSession(
        { ...readDevice(body), scopes: scopes ? JSON.stringify(scopes) : null },
        { sessionToken, verifier, now: now() },
      );
      await addWaiting(store, { kind: "pairing", now: now() }, (transaction) =>
        transaction.insertInto("pairing_sessions").values(session).execute(),
      );
      return {
        sessionToken,
        pairUrl: parts.pairUrl(sessionToken),
        verifier,
        expiresAt: session.expires_at,
        displayCode: session.display_code,
        deviceLabel: session.device_label,
        status: session.status,
        pollIntervalMs: POLL_INTERVAL_MS,
      };
    },

    find,

    /** As `find`, for the owner's page: from then on the session is never dropped for another. */
    async open(sessionToken: string): Promise<PairingSession | undefined> {
      await markOpened(store, { kind: "pairing", hash: hashSecret(sessionToken), now: now() });
      return find(sessionToken);
    },

    /** Approves or declines for the signed-in owner; false when the session no longer waits. */
    decide: (sessionToken: string, decision: KeyDecision) =>
      decideWaiting(parts, { ...decision, kind: "pairing", hash: hashSecret(sessionToken), now: now() }),

    /**
     * Hands out the key, once. The key is stored (hashed) and the session closed in one transaction before the reply
     * exists, so a crash can lose the reply but never show a key twice.
     *
     * @throws ServiceError bare: 404 unknown, 410 expired, 400 wrong verifier, 409 denied, not approved or already exchanged.
     */
    exchange: (sessionToken: string, verifier: string) => exchangePairing(parts, hashSecret(sessionToken), verifier),
  };
}

async function exchangePairing({ store, keys, now }: PairingParts, tokenHash: string, verifier: string) {
  const session = await findRow(store, tokenHash);
  refuseEnded(session, now());
  if (!isSameHash(hashSecret(verifier), session.verifier_hash)) throw await countWrongVerifier(store, tokenHash);
  const at = new Date(now()).toISOString();
  return store.transaction().execute(async (transaction): Promise<PairExchangeReply> => {
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
    return {
      ...(await keys.issue(
        { accountId: closed.account_id, label, client: closed.client, session: tokenHash },
        transaction,
      )),
      session: {
        displayCode: closed.display_code,
        deviceLabel: closed.device_label,
        status: closed.status,
        expiresAt: closed.expires_at,
        approvedAt: closed.decided_at,
        exchangedAt: closed.exchanged_at,
        scopes: readScopes(closed.scopes),
      },
    };
  });
}

function findRow(store: Store, tokenHash: string): Promise<PairingRow | undefined> {
  return store.selectFrom("pairing_sessions").selectAll().where("token_hash", "=", tokenHash).executeTakeFirst();
}

function refuseEnded(session: PairingRow | undefined, now: number): asserts session is PairingRow {
  if (session === undefined) throw refuse(404, "This pairing session is unknown. Start pairing again.");
  const status = readSessionStatus(session, now);
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
  return (await findRow(store, tokenHash))?.status === "exchanged"
    ? refuse(409, "This pairing session was already exchanged; its key is shown only once. Start pairing again.")
    : refuse(409, "This pairing session is not approved yet. Open its approval page and approve the device.");
}

function refuse(status: 400 | 404 | 409 | 410, message: string): ServiceError {
  return refuseBare(status, "pairing_refused", message);
}

function readDevice(body: unknown): Pick<PairingRow, "device_label" | "client"> {
  const read = pairStartRequestSchema.safeParse(body);
  if (!read.success) {
    throw refuseBare(400, "invalid_body", "`deviceLabel` and `client`, when sent, must be strings.");
  }
  return { device_label: cleanText(read.data.deviceLabel, MAX_LABEL), client: cleanText(read.data.client, MAX_CLIENT) };
}

function createSession(
  device: Pick<PairingRow, "device_label" | "client" | "scopes">,
  o: { sessionToken: string; verifier: string; now: number },
) {
  return {
    token_hash: hashSecret(o.sessionToken),
    verifier_hash: hashSecret(o.verifier),
    display_code: createDisplayCode(),
    ...device,
    status: "awaiting_approval",
    wrong_verifiers: 0,
    created_at: new Date(o.now).toISOString(),
    expires_at: new Date(o.now + PAIRING_LIFETIME_MS).toISOString(),
  } as const;
}
