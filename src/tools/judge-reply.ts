import type { ExecuteReply } from "../client/executions.ts";
import { type Failure, readFailure } from "./read-failure.ts";

/** What an answer means for the call. Objections can be answered, each at most once per call. */
export type Judgement =
  | { readonly kind: "success"; readonly result: unknown }
  | { readonly kind: Objection | "needs_connection" | "key" | "failure"; readonly failure: Failure };

/** What a service can object to that we can set right. */
export type Objection = "confirmation" | "accounts" | "missing_bytes" | "envelope_refused" | "arguments";

/** What the judged request held. */
export interface SentRequest {
  readonly confirmed: boolean;
  /** True when a `files` envelope was sent. */
  readonly hasEnvelope: boolean;
}

const ACCOUNT_CODES = new Set(["ambiguous_connection", "unknown_connection", "multiple_connections"]);
const CONNECT_CODES = new Set(["needs_connection", "integration_not_connected", "not_connected"]);
const REAUTH_CODES = new Set(["needs_reauth", "reauth_required"]);
const ENVELOPE_CODES = /^(malformed_files|(files?|envelopes?)_.*(not_accepted|refused|disabled|unsupported|off))$/;

/**
 * Decides by body shape and code first and by status last: a 401 is a bad key or an expired connection, a 404 a missing
 * tool or a provider's 404, a 409 one of three things.
 */
export function judgeReply(reply: ExecuteReply, sent: SentRequest): Judgement {
  if (reply.kind === "envelope" && reply.envelope.ok && reply.status < 300) {
    const { result, data, canonical } = reply.envelope;
    return { kind: "success", result: result ?? data ?? canonical?.output ?? null };
  }
  if (reply.kind === "summary" && reply.summary.status === "succeeded" && reply.status < 300) {
    return { kind: "success", result: reply.summary.output ?? null };
  }
  const failure = readFailure(reply);
  return { kind: classify(failure, sent), failure };
}

function classify(failure: Failure, sent: SentRequest): Exclude<Judgement["kind"], "success"> {
  const { code, canonicalCode, status } = failure;
  if (code === "missing_file_bytes") return "missing_bytes";
  if (isEnvelopeRefused(failure, sent)) return "envelope_refused";
  if (status === 412 || code === "confirmation_required") return "confirmation";
  if (ACCOUNT_CODES.has(code)) return "accounts";
  if (CONNECT_CODES.has(code) || canonicalCode === "integration_not_connected") return "needs_connection";
  if (REAUTH_CODES.has(code) || canonicalCode === "reauth_required" || failure.type === "reauth_required") {
    return "needs_connection";
  }
  // The document uses one code for both: once confirmed, only the choice of an account is left.
  if (canonicalCode === "policy_blocked") return sent.confirmed ? "accounts" : "confirmation";
  if (code === "invalid_arguments" || canonicalCode === "validation_error") return "arguments";
  if (status === 401) return isConnectionProblem(failure) ? "needs_connection" : "key";
  return status === 409 && failure.choices.length > 1 ? "accounts" : "failure";
}

function isConnectionProblem(failure: Failure): boolean {
  return failure.nextAction !== undefined && failure.code !== "unauthorized";
}

/** Some services take no bytes in the request and say so with a guard error. */
function isEnvelopeRefused(failure: Failure, sent: SentRequest): boolean {
  if (!sent.hasEnvelope) return false;
  if (ENVELOPE_CODES.test(failure.code)) return true;
  return !failure.isStructured && (failure.status === 400 || failure.status === 413 || failure.status === 415);
}
