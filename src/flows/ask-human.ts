import { isAbort, isControlFlow, throwIfAborted, withAbort } from "../approvals/abort.ts";
import { openAnswerWindow } from "../approvals/answer-window.ts";
import { decide, type SpentRequests } from "../approvals/decide.ts";
import type { CallJournal } from "../approvals/journal.ts";
import {
  type ApprovalDecision,
  type ApprovalRequest,
  type Approver,
  createApprovalRequest,
} from "../approvals/request.ts";
import { createStableId } from "../approvals/stable-id.ts";
import { createFlowOutcome, type FlowOutcome } from "./flow-outcome.ts";

/** A call of a flow tool as a runtime hands it over. */
export interface FlowCall {
  /** The runtime's id of this call; equal id and arguments mean the same call, made again. */
  readonly callId: string;
  readonly signal?: AbortSignal | undefined;
  /** Asked instead of the session's approver. */
  readonly approve?: Approver | undefined;
  /** Used instead of the session's journal. */
  readonly journal?: CallJournal | undefined;
  /** True in a runtime that makes the whole call again after each answer and keeps the answers itself. */
  readonly keepsAnswers?: boolean | undefined;
  /** Milliseconds a request for approval stays open, instead of the session's. */
  readonly approvalTtlMs?: number | undefined;
}

/** What asking needs. */
export interface AskParts {
  readonly principal: string;
  readonly approve: Approver | undefined;
  readonly approvalTtlMs: number;
  readonly spent: SpentRequests;
  readonly now: () => number;
}

/** What is put before the human. */
export interface FlowQuestion {
  readonly tool: string;
  readonly title: string;
  readonly description: string;
  readonly reason: string;
  /** Everything that would happen, complete; the decision is bound to it. */
  readonly arguments: Record<string, unknown>;
}

/** Builds the request; for a runtime that runs the call again its id is the same each time. */
export function createFlowRequest(parts: AskParts, call: FlowCall, question: FlowQuestion): ApprovalRequest {
  const subject = {
    ...question,
    integration: "flows",
    hasAccount: false as const,
    files: [],
    effect: "write" as const,
    principal: parts.principal,
  };
  const time = { now: parts.now(), ttlMs: call.approvalTtlMs ?? parts.approvalTtlMs };
  const request = createApprovalRequest(subject, time);
  return call.keepsAnswers === true
    ? { ...request, id: createStableId(["flow", call.callId, request.fingerprint]) }
    : request;
}

/** The decision that counts, or the outcome when there is none: an error, a late or a foreign answer approves nothing. */
export async function askHuman(
  parts: AskParts,
  call: FlowCall,
  request: ApprovalRequest,
): Promise<ApprovalDecision | FlowOutcome> {
  throwIfAborted(call.signal);
  const approver = call.approve ?? parts.approve;
  const unanswered = (code: string, message: string) =>
    createFlowOutcome("needs_approval", request.tool, {
      code,
      message: `${message} Nothing was done.`,
      hint: "Tell the user that their approval is needed. Do not try to get around it.",
      approval: request,
      retryable: false,
    });
  if (approver === undefined) return unanswered("approval_required", "Nobody can be asked for approval here.");
  const leftMs = Math.max(0, Date.parse(request.expiresAt) - parts.now());
  const { signal, expiry, close } = openAnswerWindow(leftMs, call.signal);
  let answer: unknown;
  try {
    // Given up when the time is over or the caller gave up, also when the approver does not listen.
    answer = await withAbort(Promise.resolve(approver(structuredClone(request), { signal })), signal);
  } catch (error) {
    if (isControlFlow(error)) throw error;
    throwIfAborted(call.signal);
    if (expiry.aborted) return unanswered("approval_expired", "The request for approval was not answered in time.");
    if (isAbort(error)) throw error;
    return unanswered("approval_failed", "The request for approval could not be put to anybody.");
  } finally {
    close();
  }
  throwIfAborted(call.signal);
  const spent = call.keepsAnswers === true ? new Map() : parts.spent;
  const verdict = decide(request, answer, { now: parts.now(), spent });
  return verdict.accepted ? verdict.decision : unanswered(`approval_${verdict.reason}`, verdict.message);
}
