import { isSvcError, SvcError } from "../../shared/errors.ts";
import type { PairExchangeReply } from "../../shared/wire/registration.ts";
import type { SvcClient } from "../client/client.ts";
import { withoutRequest } from "../client/failure.ts";
import type { PendingPairing } from "./credentials.ts";

/** Result of one try to exchange the verifier for the key. */
export type ExchangeAttempt =
  | { readonly kind: "key"; readonly reply: PairExchangeReply }
  | {
      readonly kind: "waiting";
      readonly retryAfterMs?: number | undefined;
      /** True when the service has a status endpoint for sessions, to be asked instead of trying. */
      readonly hasStatus: boolean;
    }
  /** Unknown, expired, or not ours: a new session is needed. */
  | { readonly kind: "gone"; readonly error: SvcError }
  /** The key of this session was already handed out. */
  | { readonly kind: "used"; readonly error: SvcError }
  /** A human declined, or the service refuses permanently. */
  | { readonly kind: "refused"; readonly error: SvcError };

type Verdict = Exclude<ExchangeAttempt["kind"], "key">;

/** Session statuses: ours, and those of other known services. For any other status, try the exchange. */
const STATUS_VERDICTS: ReadonlyMap<string, Verdict> = new Map([
  ["awaiting_approval", "waiting"],
  ["awaiting_browser", "waiting"],
  ["pending", "waiting"],
  ["pending_approval", "waiting"],
  ["expired", "gone"],
  ["denied", "refused"],
  ["declined", "refused"],
  ["rejected", "refused"],
  ["failed", "refused"],
  ["exchanged", "used"],
  ["paired", "used"],
  ["consumed", "used"],
]);

/** Used when only the session's status gives the reason. */
const REASONS: Readonly<Record<Exclude<Verdict, "waiting">, string>> = {
  gone: "The pairing session has expired.",
  used: "Somebody already has the key of this pairing session.",
  refused: "The pairing was declined.",
};

const HINTS: Readonly<Record<Exclude<Verdict, "waiting">, string>> = {
  gone: "Start pairing again and open the new link.",
  used: "Remove this device in the dashboard if you do not know who took the key, then start pairing again.",
  refused: "Nothing was stored. Start pairing again if the device should be allowed after all.",
};

/**
 * Tries to exchange the verifier for the key. The document gives no status for "not yet approved" and no status
 * endpoint: a service's status endpoint is trusted first, then the HTTP status, then the text of the plain error.
 *
 * @throws SvcError `aborted`
 */
export async function tryExchange(
  client: SvcClient,
  session: PendingPairing,
  signal: AbortSignal | undefined,
  previous?: ExchangeAttempt,
): Promise<ExchangeAttempt> {
  if (previous?.kind === "waiting" && previous.hasStatus) {
    const verdict = STATUS_VERDICTS.get((await askStatus(client, session, signal)) ?? "");
    if (verdict === "waiting") return { kind: "waiting", hasStatus: true };
    if (verdict === "gone" || verdict === "refused") return conclude(verdict, undefined, true);
  }
  try {
    return { kind: "key", reply: await client.exchangePairing(session.sessionToken, session.verifier, { signal }) };
  } catch (error) {
    if (!isSvcError(error) || error.code === "aborted") throw error;
    return judgeRefusal(client, session, { error, signal });
  }
}

async function judgeRefusal(
  client: SvcClient,
  session: PendingPairing,
  { error, signal }: { error: SvcError; signal: AbortSignal | undefined },
): Promise<ExchangeAttempt> {
  // A lost answer may have held the key. The next attempt gets the key again or finds it used.
  if (isPassing(error)) return { kind: "waiting", retryAfterMs: error.retryAfterMs, hasStatus: false };
  // The session is used up, and its answer was invalid.
  if (error.status !== undefined && error.status < 300) return conclude("refused", error, false);
  const status = await askStatus(client, session, signal);
  const byAnswer = judgeByAnswer(error);
  const verdict = STATUS_VERDICTS.get(status ?? "") ?? byAnswer;
  // A human decided between the two requests: the answer is older than the status.
  const isOutdated = byAnswer === "waiting" && verdict !== "waiting";
  return conclude(verdict, isOutdated ? undefined : error, status !== undefined);
}

function isPassing(error: SvcError): boolean {
  return error.code === "unreachable" || error.code === "timeout" || error.status === 429 || (error.status ?? 0) >= 500;
}

function judgeByAnswer({ status, message }: SvcError): Verdict {
  if (/\b(?:declined|denied|rejected)\b/i.test(message)) return "refused";
  if (/\balready\b/i.test(message)) return "used";
  if (/\b(?:not (?:yet )?(?:been )?approved|awaiting|pending)\b/i.test(message)) return "waiting";
  if (status === 409 || status === 425 || status === 428) return "waiting";
  return status === 404 || status === 410 || status === 400 ? "gone" : "refused";
}

function conclude(verdict: Verdict, error: SvcError | undefined, hasStatus: boolean): ExchangeAttempt {
  if (verdict === "waiting") return { kind: "waiting", retryAfterMs: error?.retryAfterMs, hasStatus };
  const reason = error === undefined ? REASONS[verdict] : `Pairing failed: ${withoutRequest(error.message)}`;
  const failure = new SvcError("pairing_failed", reason, {
    status: error?.status,
    serviceCode: error?.serviceCode,
    hint: HINTS[verdict],
  });
  return { kind: verdict, error: failure };
}

async function askStatus(
  client: SvcClient,
  session: PendingPairing,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  try {
    return await client.getPairingStatus(session.sessionToken, { signal });
  } catch (error) {
    if (isSvcError(error) && error.code !== "aborted") return undefined;
    throw error;
  }
}
