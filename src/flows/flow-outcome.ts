import type { ApprovalRequest } from "../approvals/request.ts";
import { adviseOnCredential } from "../client/credential-advice.ts";
import { redact } from "../client/redact.ts";
import type { SvcError } from "../errors.ts";
import { toPlainText } from "../wire/plain-text.ts";

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

/** True for an outcome, in contrast to a question, a decision or whatever a journal file held. */
export function isOutcome(value: unknown): value is FlowOutcome {
  return typeof value === "object" && value !== null && "toolName" in value && "notes" in value && "status" in value;
}

/** Text of the service, fit to be read: secrets masked, controls visible, at most `max` characters. */
export function cleanText(text: string, max = 600): string {
  return toPlainText(redact(text), { max });
}

/** What the service refused, or why it cannot be reached. */
export function describeFlowError(toolName: string, error: SvcError): FlowOutcome {
  const advice = adviseOnCredential(error);
  const isMissing = error.status === 404;
  const hint = advice ?? (isMissing ? "Check the id; a flow is known by the id that starting it gave." : error.hint);
  return createFlowOutcome("failed", toolName, {
    code: readCode(error),
    message: cleanText(error.message),
    hint: hint === undefined ? undefined : cleanText(hint),
    retryable: advice === undefined && !isMissing && error.retryable,
    retryAfterMs: error.retryAfterMs,
  });
}

/** The flow routes refuse with bare texts: their status says which kind of refusal it is. */
function readCode({ status, serviceCode, code }: SvcError): string {
  if (status === 404) return "flow_not_found";
  if (serviceCode !== undefined) return serviceCode;
  if (status === 400) return "invalid_arguments";
  return status === 409 ? "flow_conflict" : code;
}
