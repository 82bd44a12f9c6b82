import { toPlainText } from "../approvals/plain-text.ts";
import type { ApprovalRequest } from "../approvals/request.ts";
import { redact } from "../client/redact.ts";
import type { SvcError } from "../errors.ts";

/** How a flow tool ended: the same form as the outcome of every other tool. */
export interface FlowOutcome {
  readonly status: "succeeded" | "needs_approval" | "declined" | "failed" | "unknown";
  /** Name of the flow tool. */
  readonly toolName: string;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
  readonly details?: readonly string[];
  readonly retryable?: boolean;
  readonly retryAfterMs?: number;
  readonly result?: unknown;
  readonly notes: readonly string[];
  /** The request nobody has answered. */
  readonly approval?: ApprovalRequest;
}

type Details = { -readonly [Key in keyof Omit<FlowOutcome, "status" | "toolName">]?: FlowOutcome[Key] | undefined };

/** Builds an outcome; members that are undefined are left out. */
export function createFlowOutcome(status: FlowOutcome["status"], toolName: string, details: Details): FlowOutcome {
  const present = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  return { status, toolName, notes: [], ...present };
}

/** Text of the service, fit to be read: secrets masked, controls visible, at most `max` characters. */
export function cleanText(text: string, max = 600): string {
  return toPlainText(redact(text), { max });
}

/** What the service refused, or why it cannot be reached. */
export function describeFlowError(toolName: string, error: SvcError): FlowOutcome {
  const isKeyProblem = error.code === "unauthorized" || error.code === "credentials_missing";
  const isMissing = error.status === 404;
  const hint = isKeyProblem
    ? "The key of this device is missing, wrong or revoked. Pair it again (svc pair); calling again will not help."
    : isMissing
      ? "Check the id; a flow is known by the id that starting it gave."
      : error.hint;
  return createFlowOutcome("failed", toolName, {
    code: isMissing ? "flow_not_found" : (error.serviceCode ?? (error.status === 409 ? "flow_conflict" : error.code)),
    message: cleanText(error.message),
    hint: hint === undefined ? undefined : cleanText(hint),
    retryable: isKeyProblem || isMissing ? false : error.retryable,
    retryAfterMs: error.retryAfterMs,
  });
}
