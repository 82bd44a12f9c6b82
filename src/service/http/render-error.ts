import type { CanonicalErrorCode, ExecutionEnvelope, ExecutionSummary } from "../../wire/execution.ts";
import { explainPolicy } from "../catalog/describe-tool.ts";
import type { ExecutionOutcome } from "../executions/outcome.ts";
import type { ServiceError, ServiceErrorStatus } from "../service-error.ts";

/*
 * The three shapes of the document's "Errors" section. Nothing but codes and sentences written for callers gets
 * out: causes and stacks stay in the log.
 */

/** Envelope 3, guard errors: `{ error }`. */
export function renderBare(error: ServiceError): Response {
  return respond({ error: error.message }, error.status, error);
}

/** Envelope 2, tool-name endpoint, success and failure; a guard error stays bare. */
export function renderEnvelope(outcome: ExecutionOutcome): Response {
  const { error } = outcome;
  if (error?.options.bare) return renderBare(error);
  const entry = outcome.entry;
  const body: ExecutionEnvelope = {
    ok: error === undefined,
    toolName: outcome.toolName,
    integration: entry?.integration.slug ?? null,
    connectionId: outcome.connectionId,
    requiresConfirmation: entry?.action.requiresConfirmation ?? false,
    ...(error === undefined ? { result: outcome.output, data: outcome.output } : describeError(error)),
    ...(error?.code === "confirmation_required" &&
      entry && { policyReason: explainPolicy(entry), askBefore: entry.action.askBefore ?? [] }),
    canonical: summarise(outcome),
    meta: {
      startedAt: outcome.startedAt,
      endedAt: outcome.finishedAt,
      durationMs: Date.parse(outcome.finishedAt) - Date.parse(outcome.startedAt),
      requestId: outcome.executionId,
    },
  };
  return respond(body, error?.status ?? 200, error);
}

/** Envelope 1, the execution summary; also the `canonical` block of envelope 2. */
function summarise(outcome: ExecutionOutcome): ExecutionSummary {
  const { entry, error } = outcome;
  const title = entry?.action.title ?? outcome.toolName;
  const head = {
    execution_id: outcome.executionId,
    status: outcome.status,
    integration_id: entry?.integration.slug ?? null,
    action_id: entry?.action.id ?? outcome.toolName,
    started_at: outcome.startedAt,
    finished_at: outcome.finishedAt,
  };
  if (error === undefined) {
    const summary = `${entry?.integration.name ?? "The service"} did it.`;
    return { ...head, output: outcome.output, display: { title: `${title}: done`, summary } };
  }
  const heading = outcome.status === "blocked" ? "not run" : "failed";
  return {
    ...head,
    display: { title: `${title}: ${heading}`, summary: error.message },
    error_code: toCanonicalCode(error),
    message: error.message,
    ...(error.options.hint !== undefined && { hint: error.options.hint }),
    ...recommendAction(outcome, error),
  };
}

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

const CODE_BY_ERROR: Readonly<Record<string, CanonicalErrorCode>> = {
  ambiguous_connection: "policy_blocked",
  confirmation_required: "policy_blocked",
  integration_not_found: "integration_not_found",
  needs_connection: "integration_not_connected",
  needs_reauth: "reauth_required",
  timeout: "timeout",
  tool_not_found: "action_not_found",
  unknown_connection: "policy_blocked",
  usage_limit_reached: "unsupported_operation",
};

const CODE_BY_STATUS: Readonly<Partial<Record<ServiceErrorStatus, CanonicalErrorCode>>> = {
  400: "validation_error",
  401: "unauthorized",
  403: "forbidden",
  413: "validation_error",
  415: "validation_error",
  422: "unsupported_operation",
  429: "rate_limited",
};

function toCanonicalCode(error: ServiceError): CanonicalErrorCode {
  return CODE_BY_ERROR[error.code] ?? CODE_BY_STATUS[error.status] ?? "execution_failed";
}

/** Every 429 carries a `Retry-After`, also when the provider named no time. */
const DEFAULT_RETRY_AFTER_SECONDS = 30;

/** The way back to a healthy connection, when that is what is missing. */
function recommendAction({ entry }: ExecutionOutcome, error: ServiceError): Partial<ExecutionSummary> {
  if (entry === undefined) return {};
  const integration_id = entry.integration.slug;
  if (error.code === "needs_connection") {
    return { recommended_next_action: { tool: "svc.connect_app", input: { integration_id } } };
  }
  if (error.status !== 401 && error.status !== 403) return {};
  return { recommended_next_action: { tool: "svc.connect_app", input: { integration_id, force_reconnect: true } } };
}

function respond(body: object, status: number, error: ServiceError | undefined): Response {
  const headers = new Headers({ "content-type": "application/json", "cache-control": "no-store" });
  const wait = error?.options.retryAfterSeconds ?? (status === 429 ? DEFAULT_RETRY_AFTER_SECONDS : undefined);
  if (wait !== undefined) headers.set("retry-after", String(Math.max(1, Math.ceil(wait))));
  if (error?.code === "unauthorized" && error.status === 401) headers.set("www-authenticate", 'Bearer realm="svc"');
  // The rest of a refused body is not read, so the connection cannot carry another request.
  if (error?.status === 413) headers.set("connection", "close");
  return new Response(JSON.stringify(body), { status, headers });
}
