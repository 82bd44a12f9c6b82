import type { ExecutionEnvelope } from "../../shared/wire/execution.ts";
import { needsConfirmation } from "../catalog/catalog-entry.ts";
import { explainPolicy } from "../catalog/describe-catalog.ts";
import { blockedOutcome, type ExecutionOutcome, type StoredExecution } from "../executions/outcome.ts";
import type { Permission } from "../executions/permission.ts";
import { summariseOutcome } from "../executions/summarise-outcome.ts";
import type { ServiceError } from "../service-error.ts";
import { sendJson } from "./whole-answer.ts";

/*
 * The three shapes of the document's "Errors" section. Nothing but codes and sentences written for callers gets
 * out: causes and stacks stay in the log.
 */

/** Envelope 3, guard errors: `{ error }`. */
export function renderBare(error: ServiceError): Response {
  return respond({ error: error.message }, error.status, error);
}

/** Envelope 2, tool-name endpoint, success and failure; a guard error stays bare. */
export function renderEnvelope(full: ExecutionOutcome, options: RenderOptions = {}): Response {
  const { error } = full;
  if (error?.options.bare) return renderBare(error);
  return respond(describeEnvelope(shrinkOutput(full, options)), toEnvelopeStatus(error), error);
}

/** The body of envelope 2. */
export function describeEnvelope(outcome: ExecutionOutcome): ExecutionEnvelope {
  const { entry, error } = outcome;
  return {
    ok: error === undefined,
    toolName: outcome.toolName,
    integration: entry?.integration.slug ?? null,
    connectionId: outcome.connectionId,
    requiresConfirmation: entry !== undefined && needsConfirmation(entry),
    ...(error === undefined ? { result: outcome.output, data: outcome.output } : describeError(error)),
    ...(error?.code === "confirmation_required" &&
      entry && { policyReason: explainPolicy(entry), askBefore: entry.action.askBefore ?? [] }),
    canonical: summariseOutcome(outcome),
    meta: {
      startedAt: outcome.startedAt,
      endedAt: outcome.finishedAt,
      durationMs: Date.parse(outcome.finishedAt) - Date.parse(outcome.startedAt),
      requestId: outcome.executionId,
    },
  };
}

/** 413 of this endpoint is about its own body and always bare; a file too large for an app is an invalid argument. */
function toEnvelopeStatus(error: ServiceError | undefined): number {
  return error?.status === 413 ? 400 : (error?.status ?? 200);
}

/** Envelope 1, canonical endpoints: the summary; a guard error stays bare. */
export function renderSummary(outcome: StoredExecution, options: RenderOptions = {}): Response {
  const { error, status } = outcome;
  if (error?.options.bare) return renderBare(error);
  const body = summariseOutcome(shrinkOutput(outcome, options));
  return respond(body, error?.code === "unauthorized" ? 401 : HTTP_STATUS[status], error);
}

/** Response header of a lookup that says who or what let the execution run: the body stays as it was answered first. */
const ALLOWED_BY_HEADER = "x-svc-allowed-by";

/** The answer of a lookup: 200 whatever the execution came to. */
export function renderStored(outcome: StoredExecution): Response {
  const answer = respond(summariseOutcome(outcome), 200, undefined);
  const { permission } = outcome;
  if (permission !== undefined) answer.headers.set(ALLOWED_BY_HEADER, JSON.stringify(describePermission(permission)));
  return answer;
}

/** For programs: which person it was is for the owner's log. */
function describePermission(permission: Permission) {
  const { by } = permission;
  if (by === "rule") return { by, rule: permission.text, rule_id: permission.id };
  return by === "level" ? { by, level: permission.level } : { by };
}

/** A problem of a catalog endpoint: a blocked summary with the error's own status; a guard error stays bare. */
export function renderProblem(
  error: ServiceError,
  asked: { integrationId: string | null; actionId: string | null; at: string },
): Response {
  if (error.options.bare) return renderBare(error);
  const summary = summariseOutcome(blockedOutcome(error, asked.at));
  const { integrationId: integration_id, actionId: action_id } = asked;
  const display = { title: "Nothing to show", summary: error.message };
  return respond({ ...summary, integration_id, action_id, display }, error.status, error);
}

const HTTP_STATUS: Readonly<Record<StoredExecution["status"], number>> = {
  succeeded: 200,
  running: 200,
  blocked: 409,
  failed: 500,
};

function describeError(error: ServiceError): Partial<ExecutionEnvelope> {
  const { type, retryable, hint, details, extra } = error.options;
  return {
    error: {
      ...extra,
      code: error.code,
      type: type ?? "unknown",
      message: error.message,
      retryable: retryable ?? false,
    },
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details: [...details] }),
  };
}

/** Every 429 carries a `Retry-After`, also when the provider named no time. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;

function respond(body: object, status: number, error: ServiceError | undefined): Response {
  const answer = sendJson(body, status);
  const wait = error?.options.retryAfterSeconds ?? (error?.status === 429 ? DEFAULT_RETRY_AFTER_SECONDS : undefined);
  if (wait !== undefined) answer.headers.set("retry-after", String(Math.max(1, Math.ceil(wait))));
  if (error?.code === "unauthorized" && error.status === 401)
    answer.headers.set("www-authenticate", 'Bearer realm="svc"');
  return answer;
}

/** How an outcome is written into an answer. */
interface RenderOptions {
  /** True when the caller asked for large outputs to be left out. */
  readonly offload?: boolean;
}

/** Request header by which a caller opts in to the offload of large outputs. */
export const RESULT_HEADER = "x-svc-result";
/** Value of {@link RESULT_HEADER} that opts in. */
export const RESULT_OFFLOAD = "offload";
/** Outputs whose JSON is longer, in bytes, are replaced. */
const OFFLOAD_ABOVE_BYTES = 64 * 1024;
const PREVIEW_CHARS = 2000;

/** Reads the opt-in of a request. */
export function readRenderOptions(headers: Headers): RenderOptions {
  return { offload: headers.get(RESULT_HEADER)?.trim().toLowerCase() === RESULT_OFFLOAD };
}

/** Replaces a large output when the caller opted in ("compact offload envelope"); `GET /api/executions/{id}` has it whole. */
function shrinkOutput<T extends StoredExecution>(outcome: T, { offload }: RenderOptions): T {
  if (!offload || outcome.status !== "succeeded" || outcome.executionId === null) return outcome;
  const json = JSON.stringify(outcome.output);
  const bytes = Buffer.byteLength(json);
  if (bytes <= OFFLOAD_ABOVE_BYTES) return outcome;
  const preview = json.slice(0, PREVIEW_CHARS).toWellFormed();
  return { ...outcome, output: { svc_result: "stored", execution_id: outcome.executionId, bytes, preview } };
}
