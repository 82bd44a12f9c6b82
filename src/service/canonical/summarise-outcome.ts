import type { ExecutionSummary } from "../../wire/execution.ts";
import type { StoredExecution } from "../executions/outcome.ts";
import type { ServiceError } from "../service-error.ts";
import { toCanonicalCode } from "./error-code.ts";

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
    return { ...head, display: { title: `${title}: running`, summary: "It has started and not ended yet." } };
  }
  if (error === undefined) {
    const summary = `${entry?.integration.name ?? "The service"} did it.`;
    return { ...head, output: outcome.output, display: { title: `${title}: done`, summary } };
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
    ...recommendAction(outcome, error),
  };
}

/** Codes of an action that started and did not end as it should: it may have taken effect. */
const DOUBTFUL: ReadonlySet<string> = new Set(["outcome_unknown", "timeout", "bad_result", "unexpected_error"]);

/** The action started, and whether it took effect is not known: its process died, it was still at it, or it broke. */
function leavesDoubt({ status, entry }: StoredExecution, error: ServiceError): boolean {
  if (status !== "failed" || entry?.action.level === "read") return false;
  return DOUBTFUL.has(error.code);
}

/** The way back to a healthy connection, when that is what is missing. */
function recommendAction({ entry }: StoredExecution, error: ServiceError): Partial<ExecutionSummary> {
  if (entry === undefined) return {};
  const integration_id = entry.integration.slug;
  if (error.code === "needs_connection") {
    return { recommended_next_action: { tool: "svc.connect_app", input: { integration_id } } };
  }
  if (error.status !== 401 && error.status !== 403) return {};
  return { recommended_next_action: { tool: "svc.connect_app", input: { integration_id, force_reconnect: true } } };
}
