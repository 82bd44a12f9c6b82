import type { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";
import { shortenText } from "../../shared/base/text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { RaisedLevel } from "../../shared/wire/call-level.ts";
import {
  bareErrorSchema,
  type ExecutionEnvelope,
  type ExecutionSummary,
  executionEnvelopeSchema,
  executionSummarySchema,
} from "../../shared/wire/execution.ts";
import { type Preview, previewReplySchema } from "../../shared/wire/preview.ts";
import { nameRequest, PAIR_AGAIN } from "./failure.ts";
import { redact } from "./redact.ts";

/** An answer of any status, before its meaning is known. */
export interface ApiReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The parsed body; undefined when it is empty or not JSON. */
  readonly json: unknown;
  /** The beginning of a body that is not JSON, without secrets; else "". */
  readonly excerpt: string;
  /** From `Retry-After`. */
  readonly retryAfterMs: number | undefined;
  /** The name of the call in messages. */
  readonly label: string;
  /** Secrets of the call, key included, that no message may show. */
  readonly secrets: readonly string[];
}

/** The three documented shapes of an answer that is not the plain resource ("Errors", envelopes). */
type ReplyShape =
  | { readonly kind: "envelope"; readonly envelope: ExecutionEnvelope }
  | { readonly kind: "summary"; readonly summary: ExecutionSummary }
  | { readonly kind: "bare"; readonly error: string };

/** The service's answer to an execution, by the shape of its body. A failure is an answer too. */
export type ExecuteReply = ReplyShape & { readonly status: number; readonly retryAfterMs?: number };

/**
 * Recognises envelope, summary and bare error by their members, never by status: a 401 is a bare key error or an
 * envelope about a connection, and gateways answer with any of them.
 */
export function recogniseShape(json: unknown): ReplyShape | undefined {
  if (!isRecord(json)) return undefined;
  if (typeof json.ok === "boolean") {
    const envelope = parseLeniently(executionEnvelopeSchema, json, "ok");
    if (envelope !== undefined) return { kind: "envelope", envelope };
  }
  if (typeof json.status === "string" && ("execution_id" in json || "error_code" in json || isFinal(json.status))) {
    const summary = parseLeniently(executionSummarySchema, json, "status");
    if (summary !== undefined) return { kind: "summary", summary };
  }
  const bare = bareErrorSchema.safeParse(json);
  if (bare.success) return { kind: "bare", error: bare.data.error };
  const nested = isRecord(json.error) ? json.error.message : json.message;
  return typeof nested === "string" ? { kind: "bare", error: nested } : undefined;
}

/**
 * The resource in a successful answer.
 *
 * @throws SvcError `unauthorized`, `service_failure` or `bad_response`
 */
export function readResource<T extends z.ZodType>(reply: ApiReply, schema: T): z.output<T> {
  if (isRedirect(reply.status)) throw badResponse(reply);
  const parsed = reply.status < 300 ? schema.safeParse(reply.json) : undefined;
  if (parsed?.success) return parsed.data;
  const shape = recogniseShape(reply.json);
  if (shape !== undefined) throw toServiceError(reply, shape);
  throw badResponse(reply, parsed && reply.json !== undefined ? describeIssue(parsed.error) : undefined);
}

/** The stored execution in an answer; a refused lookup is thrown. */
export function readExecution(reply: ApiReply): ExecutionSummary {
  const shape = recogniseShape(reply.json);
  if (shape?.kind === "summary" && typeof shape.summary.execution_id === "string") return shape.summary;
  return readResource(reply, executionSummarySchema);
}

/**
 * The answer of an execute call by its shape.
 *
 * @throws SvcError `bad_response` when it has none
 */
export function readExecuteReply(reply: ApiReply): ExecuteReply {
  const shape = recogniseShape(reply.json);
  const isBareSuccess = shape?.kind === "bare" && reply.status < 300;
  if (shape === undefined || isRedirect(reply.status) || isBareSuccess) throw badResponse(reply);
  const wait = reply.retryAfterMs === undefined ? {} : { retryAfterMs: reply.retryAfterMs };
  return { ...shape, status: reply.status, ...wait };
}

/** What a call would do, or the refusal that it would get. */
export type PreviewReply =
  | { readonly preview: Preview; readonly raised: RaisedLevel | undefined }
  | { readonly refusal: ExecuteReply };

/** Reads the answer to a look at a call. Throws like {@link readExecuteReply}. */
export function readPreview(reply: ApiReply): PreviewReply {
  const found = reply.status === 200 ? previewReplySchema.safeParse(reply.json).data : undefined;
  if (found === undefined) return { refusal: readExecuteReply(reply) };
  return { preview: found.preview, raised: found.call_level };
}

/** A stored answer of an execute endpoint; undefined when it has no known shape. */
export function readStoredReply(result: unknown): ExecuteReply | undefined {
  const shape = recogniseShape(result);
  if (shape === undefined) return undefined;
  const hasSucceeded =
    shape.kind === "envelope" ? shape.envelope.ok : shape.kind === "summary" && shape.summary.status === "succeeded";
  return { ...shape, status: hasSucceeded ? 200 : 500 };
}

/** The error for an answer that fits no documented shape; quotes at most a short, clean piece of it. */
export function badResponse(reply: ApiReply, issue?: string): SvcError {
  const { status, label } = reply;
  if (isRedirect(status)) {
    const target = URL.parse(reply.headers.location ?? "")?.origin;
    const where = target === undefined || target === "null" ? "" : ` to ${target}`;
    const message = nameRequest(`HTTP ${status} redirects${where}; redirects are never followed.`, label);
    return new SvcError("bad_response", message, {
      status,
      hint: "Set the base URL to the address the service really has.",
      sent: true,
    });
  }
  const isCut = issue === undefined && /^"\s*[[{]/.test(reply.excerpt);
  const unread = reply.excerpt === "" ? "an empty or unknown body" : `unreadable text: ${reply.excerpt}`;
  const what = issue ?? (isCut ? "JSON that is damaged or ends too early" : unread);
  return new SvcError("bad_response", nameRequest(`HTTP ${status} with ${what}.`, label), {
    status,
    retryable: isTransientStatus(status),
    retryAfterMs: reply.retryAfterMs,
    hint: isCut
      ? "The answer of the service was incomplete."
      : "Check that the base URL points at the API and that no proxy answers in its place.",
    sent: true,
  });
}

/** Statuses after which a read may simply be tried again. A 500 is not one: the action ran and errored. */
export function isTransientStatus(status: number): boolean {
  return status === 429 || status === 502 || status === 503 || status === 504;
}

/** The thrown form of a failure that a caller cannot take as a value. */
export function toServiceError(reply: ApiReply, shape: ReplyShape): SvcError {
  const envelope = shape.kind === "envelope" ? shape.envelope : undefined;
  const summary = shape.kind === "summary" ? shape.summary : envelope?.canonical;
  const error = envelope?.error;
  const clean = (text: string | null | undefined) => (text ? shortenText(redact(text, reply.secrets), 500) : undefined);
  const said = shape.kind === "bare" ? shape.error : (error?.message ?? summary?.message ?? summary?.display?.summary);
  const serviceCode = error?.code ?? summary?.error_code ?? undefined;
  const isKeyProblem = reply.status === 401 && (serviceCode === undefined || serviceCode === "unauthorized");
  const message = nameRequest(clean(said) ?? `HTTP ${reply.status}`, reply.label);
  return new SvcError(isKeyProblem ? "unauthorized" : "service_failure", message, {
    status: reply.status,
    serviceCode,
    retryable: error?.retryable ?? isTransientStatus(reply.status),
    retryAfterMs: reply.retryAfterMs,
    hint: clean(envelope?.hint ?? summary?.hint) ?? (isKeyProblem ? PAIR_AGAIN : undefined),
    nextAction: summary?.recommended_next_action ?? undefined,
    sent: true,
  });
}

/**
 * A write that succeeded must not be reported as unreadable because an optional member is invalid: invalid members are
 * left out, as long as the member that identifies the shape is valid.
 */
function parseLeniently<T extends z.ZodType>(
  schema: T,
  json: Record<string, unknown>,
  required: string,
): z.output<T> | undefined {
  const first = schema.safeParse(json);
  if (first.success) return first.data;
  const odd = new Set(first.error.issues.map((issue) => issue.path[0]));
  if (odd.has(required) || odd.has(undefined)) return undefined;
  const kept: Record<string, unknown> = Object.fromEntries(Object.entries(json).filter(([key]) => !odd.has(key)));
  if (odd.has("error")) kept.error = repairError(json.error);
  const second = schema.safeParse(kept);
  return second.success ? second.data : undefined;
}

function repairError(error: unknown): { code: string; message: string } {
  const text = (value: unknown, fallback: string) => (typeof value === "string" && value !== "" ? value : fallback);
  const members = isRecord(error) ? error : { message: error };
  return { ...members, code: text(members.code, "unknown"), message: text(members.message, "no message") };
}

function describeIssue(error: z.ZodError): string {
  const issue = error.issues[0];
  const path = issue?.path.map(String).join(".") ?? "";
  return `a body that does not fit the API: ${path === "" ? "" : `${path}: `}${shortenText(issue?.message ?? "", 120)}`;
}

/** True for the statuses that point elsewhere; this client stays where its base URL is. */
export function isRedirect(status: number): boolean {
  return status >= 300 && status < 400;
}

function isFinal(status: string): boolean {
  return status === "succeeded" || status === "blocked" || status === "failed";
}
