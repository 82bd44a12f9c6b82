import { STATE_CHANGED } from "../../apps/port/preview.ts";
import { isRecord } from "../../shared/base/json.ts";
import { exactTime } from "../../shared/base/text.ts";
import { callLevelSchema } from "../../shared/wire/call-level.ts";
import type { CanonicalErrorCode, ExecutionSummary } from "../../shared/wire/execution.ts";
import { nameUndo } from "../../shared/wire/execution.ts";
import { previewOfRefusalSchema } from "../../shared/wire/preview.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { ServiceError, type ServiceErrorStatus } from "../service-error.ts";
import type { StoredExecution } from "./outcome.ts";

/** The document's "Execution summary"; also the `canonical` block of a tool-name envelope. */
export function summariseOutcome(outcome: StoredExecution): ExecutionSummary {
  const { entry, error } = outcome;
  const title = entry?.action.title || outcome.asked?.actionId || outcome.toolName || "The call";
  const head = {
    execution_id: outcome.executionId,
    status: outcome.status,
    integration_id: entry?.integration.slug ?? outcome.asked?.integrationId ?? null,
    action_id: entry?.action.id ?? outcome.asked?.actionId ?? outcome.toolName,
    started_at: outcome.startedAt,
    finished_at: outcome.finishedAt,
  };
  if (outcome.status === "running") {
    const { undoableUntil: until } = outcome;
    const summary =
      until === undefined ? "It has started and not ended yet." : `It can be stopped until ${exactTime(until)}.`;
    return { ...head, display: { title: `${title}: running`, summary }, ...offerUndo(outcome) };
  }
  if (error === undefined) {
    const summary = `${entry?.integration.name ?? "The service"} did it.`;
    return { ...head, output: outcome.output, display: { title: `${title}: done`, summary }, ...offerUndo(outcome) };
  }
  const { hint, details } = error.options;
  const heading = outcome.status === "blocked" ? "not run" : "failed";
  return {
    ...head,
    display: { title: `${title}: ${heading}`, summary: error.message },
    error_code: toCanonicalCode(error),
    message: error.message,
    ...(hint !== undefined && { hint }),
    ...(details !== undefined && { details }),
    ...(leavesDoubt(outcome, error) && { outcome_unknown: true }),
    ...nameApproval(error),
    ...tellLook(error),
    ...recommendAction(outcome, error),
  };
}

/** The call that takes it back. */
function offerUndo({ undoableUntil, executionId, entry, connectionId }: StoredExecution): Partial<ExecutionSummary> {
  if (undoableUntil === undefined || entry === undefined) return {};
  const connection_id = connectionId ?? undefined;
  const tool_name = nameUndo(entry.integration.slug);
  return { undo: { tool_name, input: { execution_id: executionId }, connection_id, until: undoableUntil } };
}

/** The approval that the owner holds, spelled like the members around it. */
function nameApproval({ options: { extra = {} } }: ServiceError): Partial<ExecutionSummary> {
  const { approval } = extra;
  if (!isRecord(approval)) return {};
  const { id, status, url, requestedAt: requested_at, expiresAt: expires_at } = approval;
  return { approval: { id: String(id), status: String(status), url: String(url), requested_at, expires_at } };
}

/** What is said to whoever is asked about a call. */
function tellLook({ options: { extra = {} } }: ServiceError): Partial<ExecutionSummary> {
  return {
    ...("call_level" in extra && { call_level: callLevelSchema.parse(extra.call_level) }),
    ...("preview" in extra && { preview: previewOfRefusalSchema.parse(extra.preview) }),
    ...("preview_failed" in extra && { preview_failed: true }),
    ...(extra.reason === STATE_CHANGED && { reason: STATE_CHANGED }),
  };
}

/** Codes of an action that started and did not end as it should: it may have taken effect. */
const DOUBTFUL: ReadonlySet<string> = new Set(["outcome_unknown", "timeout", "bad_result", "unexpected_error"]);

/** The action started, and whether it took effect is not known: its process died, it was still at it, or it broke. */
function leavesDoubt({ status, entry }: StoredExecution, error: ServiceError): boolean {
  return status === "failed" && entry?.action.level !== "read" && isDoubtful(error);
}

/** True when an action that started with this failure may have taken effect. */
export function isDoubtful({ code }: ServiceError): boolean {
  return DOUBTFUL.has(code);
}

/** The way back to a healthy connection, when that is what is missing. */
function recommendAction({ entry, connectionId }: StoredExecution, error: ServiceError): Partial<ExecutionSummary> {
  if (entry === undefined) return {};
  const integration_id = entry.integration.slug;
  if (error.code === "needs_connection") {
    return { recommended_next_action: { tool: "svc.connect_app", input: { integration_id } } };
  }
  const isRefusedHere = error.code === "blocked_by_rule" || error.code === "blocked_by_limits";
  if (isRefusedHere || (error.status !== 401 && error.status !== 403)) return {};
  const input = { integration_id, ...(connectionId && { connection_id: connectionId }), force_reconnect: true };
  return { recommended_next_action: { tool: "svc.connect_app", input } };
}

const CODE_BY_ERROR: Readonly<Record<string, CanonicalErrorCode>> = {
  ambiguous_connection: "policy_blocked",
  confirmation_required: "policy_blocked",
  idempotency_conflict: "validation_error",
  integration_not_found: "integration_not_found",
  media_url_unavailable: "timeout",
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

/** The `error_code` of a failure ("Canonical `error_code` values"). */
export function toCanonicalCode(error: ServiceError): CanonicalErrorCode {
  return CODE_BY_ERROR[error.code] ?? CODE_BY_STATUS[error.status] ?? "execution_failed";
}

/**
 * Says a failure in the words of the canonical endpoint: its arguments are called `input`, its confirmation `confirm`,
 * its `connectionId` `connection_id`, and it takes no `files`.
 */
export function phraseError(error: ServiceError, entry: CatalogEntry | undefined): ServiceError {
  const { hint, details, ...options } = error.options;
  const advice = adviseFor(error, entry) ?? hint;
  return new ServiceError(error.status, error.code, rename(error.message), {
    ...options,
    ...(advice !== undefined && { hint: rename(advice) }),
    ...(details !== undefined && { details: details.map(rename) }),
    cause: error,
  });
}

function rename(text: string): string {
  return text.replaceAll("`arguments`", "`input`").replaceAll(/(?<![\w.])arguments(?=[.:])/g, "input");
}

function adviseFor({ code, options }: ServiceError, entry: CatalogEntry | undefined): string | undefined {
  if (entry === undefined) return undefined;
  const { integration, action, toolName } = entry;
  const byName = `POST /api/tools/${toolName}/execute`;
  if (code === "confirmation_required" && options.extra?.approval === undefined) {
    return "Show the human the action and its final input; after approval send the same request with `confirm` true.";
  }
  if (code === "invalid_arguments") {
    return `Correct \`input\` and send the request again; GET /api/actions/${integration.slug}/${action.id} shows its input_schema.`;
  }
  if (code === "ambiguous_connection") {
    return "Make one connection the default in the dashboard, or name one as `connection_id` in POST /api/executions.";
  }
  if (code === "unknown_connection") {
    return "Ask which account to use and send its id as `connection_id`, or leave it out for the default one.";
  }
  if (code === "missing_file_bytes" && options.extra?.upload === undefined) {
    return `Put a public https URL into the field, or send the bytes with ${byName}.`;
  }
  return undefined;
}
