import type { ExecuteReply } from "../client/executions.ts";
import type { NextAction } from "../errors.ts";
import { isRecord } from "../schema/json-schema.ts";
import { type UploadInstruction, uploadInstructionSchema } from "../wire/execution.ts";
import type { ConnectionChoice } from "./outcome.ts";
import { limitAction } from "./safe-text.ts";

/** The facts of a failed execution, wherever the answer carried them. Texts are still as the service wrote them. */
export interface Failure {
  readonly status: number;
  /** The service's code; a name for the status when it gave none. */
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
  /** Arguments the failure is about, as dotted paths without a leading `arguments.`. */
  readonly fields: readonly string[];
  readonly choices: readonly ConnectionChoice[];
  readonly policyReason: string | undefined;
  readonly askBefore: readonly string[];
  /** True when the service does not know, or does not say, whether the call took effect. */
  readonly leavesDoubt: boolean;
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

/** Canonical codes in the words of the tool-name endpoint, so that one failure has one name whichever way it took. */
const TOOL_CODE_BY_CANONICAL: Readonly<Record<string, string>> = {
  action_not_found: "tool_not_found",
  integration_not_connected: "needs_connection",
  reauth_required: "needs_reauth",
  validation_error: "invalid_arguments",
};

function toToolCode(canonicalCode: string | undefined): string | undefined {
  return canonicalCode === undefined ? undefined : (TOOL_CODE_BY_CANONICAL[canonicalCode] ?? canonicalCode);
}

/** Reads a failed answer of any of the three documented shapes. */
export function readFailure(reply: ExecuteReply): Failure {
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
    fields: readFields({ ...envelope, ...error }),
    choices: readChoices(error?.connections ?? envelope.connections, /connection/.test(code) ? details : []),
    policyReason: typeof envelope.policyReason === "string" ? envelope.policyReason : undefined,
    askBefore: readTexts(envelope.askBefore),
    leavesDoubt: summary?.outcome_unknown === true || DOUBTFUL.has(code) || isUndecided(reply),
    isStructured: reply.kind !== "bare",
  };
}

/** Codes of an action that may have taken effect: nobody knows, or the app took longer than anybody waited. */
const DOUBTFUL: ReadonlySet<string> = new Set(["outcome_unknown", "timeout"]);

/**
 * An answer that does not say that the action failed: of a gateway that gave up or a service that broke on the way, of
 * an execution that has not ended, or one whose body says that it succeeded and whose status says that it did not.
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

/** Objects with id and label, or detail lines that are an id, or "id: label". */
function readChoices(value: unknown, details: readonly string[]): ConnectionChoice[] {
  if (!Array.isArray(value)) {
    return details.flatMap((line) => {
      const [, id, label] = /^([\w-]{1,64})(?::\s*(.+))?$/.exec(line) ?? [];
      return id === undefined ? [] : [{ id, label: label ?? id }];
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
