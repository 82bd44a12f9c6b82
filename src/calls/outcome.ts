import type { NextAction } from "../errors.ts";
import type { ApprovalRequest } from "./ask/request.ts";

/** How a call ended. `unknown`: a write was sent and no answer came; it may have happened. */
export type OutcomeStatus = "succeeded" | "needs_approval" | "declined" | "needs_connection" | "failed" | "unknown";

/** One connected account a human can choose. */
export interface ConnectionChoice {
  readonly id: string;
  /** What the human calls it; the id when the service gives no label. */
  readonly label: string;
  readonly isDefault?: boolean;
}

/** The result of one call, as a value: `runTool` throws only for an aborted call and for a runtime's control flow. */
export interface ToolOutcome {
  readonly status: OutcomeStatus;
  /** Full tool name as the service knows it. */
  readonly toolName: string;
  /** The service's code, or ours for refusals before sending. */
  readonly code?: string;
  /** From us or from the service; secrets masked, control characters neutralised. */
  readonly message?: string;
  /** What to do next. */
  readonly hint?: string;
  /** Further lines, one fact each. */
  readonly details?: readonly string[];
  /** True when the same call may succeed later. Not a promise that repeating a write is safe. */
  readonly retryable?: boolean;
  /** Milliseconds to wait before a retry, when the service said so. */
  readonly retryAfterMs?: number;
  /** The tool's result; left out when it was too large, then `resultRef` is set. */
  readonly result?: unknown;
  /** Reads the stored full result through `svc_read_result`. */
  readonly resultRef?: string;
  /** First part of the stored result's JSON text. */
  readonly resultPreview?: string;
  /** Characters of the stored result's JSON text. */
  readonly resultSize?: number;
  /** What was done on the way: repairs, ignored arguments, changed file types. */
  readonly notes: readonly string[];
  /** "recommended_next_action" of the API document. */
  readonly nextAction?: NextAction;
  /** Where a human connects or re-connects the app. */
  readonly connectUrl?: string;
  /** Accounts to choose from, when several are connected. */
  readonly choices?: readonly ConnectionChoice[];
  /** The request nobody has answered. */
  readonly approval?: ApprovalRequest;
}

/** An outcome without the parts every outcome has. */
export type OutcomeDetails = {
  -readonly [Key in keyof Omit<ToolOutcome, "status" | "toolName" | "notes">]?: ToolOutcome[Key] | undefined;
};

/** Builds an outcome; members that are undefined are left out. */
export function createOutcome(
  status: OutcomeStatus,
  toolName: string,
  details: OutcomeDetails = {},
  notes: readonly string[] = [],
): ToolOutcome {
  const present = Object.fromEntries(Object.entries(details).filter(([, value]) => value !== undefined));
  return { status, toolName, ...present, notes: [...notes] };
}
