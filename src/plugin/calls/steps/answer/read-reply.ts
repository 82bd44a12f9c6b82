import { isRecord } from "../../../../shared/base/json.ts";
import type { NextAction } from "../../../../shared/errors.ts";
import type { RaisedLevel } from "../../../../shared/wire/call-level.ts";
import {
  type HeldApprovalRef,
  type UndoCall,
  type UploadInstruction,
  uploadInstructionSchema,
} from "../../../../shared/wire/execution.ts";
import type { Preview } from "../../../../shared/wire/preview.ts";
import type { ExecuteReply } from "../../../client/reply.ts";
import { type ConnectionChoice, limitAction } from "../../outcome.ts";

/** The meaning of an answer for the call. Objections can be handled, each at most once per call. */
export type Judgement =
  | { readonly kind: "success"; readonly result: unknown; readonly undo: UndoCall | undefined }
  | { readonly kind: Objection | "held" | "needs_connection" | "key" | "failure"; readonly failure: Failure };

/** Refusals after which the call may be sent again in another form. */
export type Objection = "confirmation" | "accounts" | "missing_bytes" | "envelope_refused" | "arguments";

/** An answer, with facts about its request. */
export interface Answered {
  readonly reply: ExecuteReply;
  readonly confirmed: boolean;
  readonly hasEnvelope: boolean;
}

const ACCOUNT_CODES = new Set(["ambiguous_connection", "unknown_connection", "multiple_connections"]);
const CONNECT_CODES = new Set(["needs_connection", "integration_not_connected", "not_connected"]);
const REAUTH_CODES = new Set(["needs_reauth", "reauth_required"]);
const ENVELOPE_CODES = /^(malformed_files|(files?|envelopes?)_.*(not_accepted|refused|disabled|unsupported|off))$/;

/**
 * Judges by body shape and code first and by status last: a 401 may be a bad key or an expired connection, a 404 a
 * missing tool or a provider's 404, a 409 one of three things.
 */
export function judgeReply({ reply, ...sent }: Answered): Judgement {
  if (reply.kind === "envelope" && reply.envelope.ok && reply.status < 300) {
    const { result, data, canonical } = reply.envelope;
    return { kind: "success", result: result ?? data ?? canonical?.output ?? null, undo: canonical?.undo };
  }
  if (reply.kind === "summary" && reply.summary.status === "succeeded" && reply.status < 300) {
    return { kind: "success", result: reply.summary.output ?? null, undo: reply.summary.undo };
  }
  const failure = readFailure(reply);
  return { kind: classify(failure, sent), failure };
}

function classify(failure: Failure, sent: Omit<Answered, "reply">): Exclude<Judgement["kind"], "success"> {
  const { code, canonicalCode, status } = failure;
  if (failure.approval !== undefined) return "held";
  if (failure.raised !== undefined || failure.isStale) return "confirmation";
  if (code === "missing_file_bytes") return "missing_bytes";
  if (isEnvelopeRefused(failure, sent)) return "envelope_refused";
  if (status === 412 || code === "confirmation_required") return "confirmation";
  if (ACCOUNT_CODES.has(code)) return "accounts";
  if (CONNECT_CODES.has(code) || canonicalCode === "integration_not_connected") return "needs_connection";
  if (REAUTH_CODES.has(code) || canonicalCode === "reauth_required" || failure.type === "reauth_required") {
    return "needs_connection";
  }
  // The document uses one code for both: after a confirmation, only the choice of an account remains.
  if (canonicalCode === "policy_blocked") return sent.confirmed ? "accounts" : "confirmation";
  if (code === "invalid_arguments" || canonicalCode === "validation_error") return "arguments";
  if (status === 401) return isConnectionProblem(failure) ? "needs_connection" : "key";
  return status === 409 && failure.choices.length > 1 ? "accounts" : "failure";
}

function isConnectionProblem(failure: Failure): boolean {
  return failure.nextAction !== undefined && failure.code !== "unauthorized";
}

/** Some services accept no bytes in the request and answer with a guard error. */
function isEnvelopeRefused(failure: Failure, sent: Omit<Answered, "reply">): boolean {
  if (!sent.hasEnvelope) return false;
  if (ENVELOPE_CODES.test(failure.code)) return true;
  return !failure.isStructured && (failure.status === 400 || failure.status === 413 || failure.status === 415);
}

/** The facts of a failed execution, from any place in the answer. Texts are not cleaned yet. */
export interface Failure {
  readonly status: number;
  /** The service's code, else a name for the status. */
  readonly code: string;
  /** `error_code` of the canonical block or summary. */
  readonly canonicalCode: string | undefined;
  readonly type: string | undefined;
  readonly message: string;
  readonly hint: string | undefined;
  readonly details: readonly string[];
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly nextAction: NextAction | undefined;
  readonly upload: UploadInstruction | undefined;
  /** The approval that the owner of the service decides about. */
  readonly approval: HeldApprovalRef | undefined;
  /** What the call does beyond its tool's effect, where the service wants a confirmation of just that. */
  readonly raised: RaisedLevel | undefined;
  /** What the call would do, of one that waits for a confirmation. */
  readonly preview: Preview | undefined;
  /** True where nothing was done, because another state had been shown to whoever confirmed the call. */
  readonly isStale: boolean;
  /** The arguments at fault, as dotted paths without a leading `arguments.`. */
  readonly fields: readonly string[];
  readonly choices: readonly ConnectionChoice[];
  readonly policyReason: string | undefined;
  readonly askBefore: readonly string[];
  /** True when the service does not know or does not say whether the call took effect. */
  readonly isOutcomeUnknown: boolean;
  /** False for a guard error, which has neither code nor canonical block. */
  readonly isStructured: boolean;
}

const CODE_BY_STATUS: Readonly<Record<number, string>> = {
  400: "bad_request",
  401: "unauthorized",
  402: "billing",
  403: "forbidden",
  404: "not_found",
  409: "conflict",
  412: "confirmation_required",
  413: "request_too_large",
  422: "integration_misconfigured",
  429: "rate_limited",
  503: "provider_unavailable",
};

/** Canonical codes mapped to those of the tool-name endpoint, so that a failure has the same name on both routes. */
const TOOL_CODE_BY_CANONICAL: Readonly<Record<string, string>> = {
  action_not_found: "tool_not_found",
  integration_not_connected: "needs_connection",
  reauth_required: "needs_reauth",
  validation_error: "invalid_arguments",
};

function toToolCode(canonicalCode: string | undefined): string | undefined {
  return canonicalCode === undefined ? undefined : (TOOL_CODE_BY_CANONICAL[canonicalCode] ?? canonicalCode);
}

function readFailure(reply: ExecuteReply): Failure {
  const error = reply.kind === "envelope" ? (reply.envelope.error ?? undefined) : undefined;
  const envelope: Record<string, unknown> = reply.kind === "envelope" ? reply.envelope : {};
  const summary = reply.kind === "summary" ? reply.summary : reply.kind === "envelope" ? reply.envelope.canonical : {};
  const fallback = CODE_BY_STATUS[reply.status] ?? "execution_failed";
  const canonicalCode = summary?.error_code ?? undefined;
  const code = error?.code ?? (reply.kind === "summary" ? toToolCode(canonicalCode) : canonicalCode) ?? fallback;
  const next = summary?.recommended_next_action ?? undefined;
  const bare = reply.kind === "bare" ? reply.error : undefined;
  const details = reply.kind === "envelope" ? (reply.envelope.details ?? []) : readTexts(summary?.details);
  return {
    status: reply.status,
    code,
    canonicalCode,
    type: error?.type ?? undefined,
    message: bare ?? error?.message ?? summary?.message ?? `The service answered HTTP ${reply.status}.`,
    hint: (reply.kind === "envelope" ? reply.envelope.hint : undefined) ?? summary?.hint ?? undefined,
    details,
    retryable: error?.retryable ?? (reply.status === 429 || reply.status === 503 || canonicalCode === "rate_limited"),
    retryAfterMs: reply.retryAfterMs,
    nextAction: limitAction(next && { tool: next.tool, input: next.input }),
    upload: readUpload(error?.upload ?? envelope.upload),
    approval: error?.approval ?? summary?.approval,
    raised: error?.call_level ?? summary?.call_level,
    preview: error?.preview ?? summary?.preview,
    isStale: (error?.reason ?? summary?.reason) === "state_changed",
    fields: readFields({ ...envelope, ...error }),
    choices: readChoices(
      error?.connections ?? envelope.connections,
      /connection|policy_blocked/.test(code) ? details : [],
    ),
    policyReason: typeof envelope.policyReason === "string" ? envelope.policyReason : undefined,
    askBefore: readTexts(envelope.askBefore),
    isOutcomeUnknown:
      summary?.outcome_unknown === true || [code, canonicalCode ?? ""].some(isDoubtful) || isUndecided(reply),
    isStructured: reply.kind !== "bare",
  };
}

/** Codes of an action that may have taken effect: its outcome is unknown, or the app took too long. */
const isDoubtful = (code: string) => code === "outcome_unknown" || code === "timeout";

/**
 * True for an answer that does not prove a failure: from a gateway that timed out or a service that broke, about an
 * execution that has not ended, or with a body that reports success under an error status.
 */
function isUndecided(reply: ExecuteReply): boolean {
  if (reply.kind === "bare") return reply.status >= 500 && reply.status !== 503;
  if (reply.kind === "envelope") return reply.envelope.ok;
  const { status, error_code } = reply.summary;
  return status === "succeeded" || (error_code == null && status !== "failed" && status !== "blocked");
}

function readUpload(value: unknown): UploadInstruction | undefined {
  const parsed = uploadInstructionSchema.safeParse(value);
  return parsed.success ? parsed.data : undefined;
}

function readFields(members: Record<string, unknown>): string[] {
  const all = [...readTexts(members.missingFields), ...readTexts(members.invalidFields)];
  return all.map((field) => field.replace(/^arguments\./, ""));
}

/** Detail lines about accounts: `61`, `61: Work`, `64 | Home` or `connectionId 61 (Work)`. */
const ACCOUNT_LINE =
  /^(?:[-*•]\s*)?((?:connection[ _-]?id|connection|id)\s*[:=#]?\s*)?["'`]?([\w-]{1,64})["'`]?(?:\s*(?:[:|–—-]|\s)\s*\(?(.+?)\)?)?$/i;

/** Objects with id and label, or detail lines that name an id. */
function readChoices(value: unknown, details: readonly string[]): ConnectionChoice[] {
  if (!Array.isArray(value)) {
    return details.flatMap((line) => {
      const [, prefix, id, label] = ACCOUNT_LINE.exec(line.trim()) ?? [];
      // The first word of a sentence is not an id.
      const isTold =
        prefix !== undefined || label === undefined || /\d/.test(id ?? "") || /^[\w-]+\s*[:|]/.test(line.trim());
      return id !== undefined && isTold ? [{ id, label: label ?? id }] : [];
    });
  }
  return value.flatMap((item: unknown) => {
    if (!isRecord(item) || (typeof item.id !== "string" && typeof item.id !== "number")) return [];
    const id = String(item.id);
    const isDefault = item.isDefault === true ? { isDefault: true } : {};
    return [{ id, label: typeof item.label === "string" && item.label !== "" ? item.label : id, ...isDefault }];
  });
}

function readTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}
