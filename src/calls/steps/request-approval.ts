import { isAbort, isControlFlow, openAnswerWindow, throwIfAborted, withAbort } from "../ask/abort.ts";
import { decide } from "../ask/decide.ts";
import { type ApprovalDecision, type ApprovalRequest, createApprovalRequest, createStableId } from "../ask/request.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import { applyEdit } from "./apply-edit.ts";
import type { CallRecord, DoubtList } from "./call-record.ts";
import { findPinObjection, fingerprintPlan, fingerprintRequest, toApprovalFile } from "./plan-call.ts";

/** Edits of one call before it counts as declined. */
const MAX_EDITS = 8;
const DOUBT = "An equal call was sent before and never answered: it may already have happened.";

/**
 * Step 6. Puts the plan before a human, or finds a standing rule. The returned plan carries the fingerprint that was
 * approved. An edit is a yes only when the edited arguments pass every check exactly as typed, with the same files and
 * account; otherwise a new request shows what they became.
 */
export async function requestApproval(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
): Promise<Step<CallPlan>> {
  await record.doubts.look(fingerprintRequest(pipeline, plan));
  if (isAllowedByRule(pipeline, plan, record)) {
    await record.save("approved");
    const note = "allowed by the user's standing permission for this tool and account";
    return proceed({ ...plan, approved: fingerprintPlan(pipeline, plan), notes: [...plan.notes, note] });
  }
  // A refused edit may be insisted on like a refused call, but only here: the next run starts with the same rules.
  const apart: Pipeline = { ...pipeline, advised: new Set() };
  const agree = async (agreed: CallPlan) => {
    await record.save("approved", { approved: agreed.approved });
    return proceed(agreed);
  };
  let current = plan;
  let reason = explainReason(pipeline, plan);
  for (let round = 0; round <= MAX_EDITS; round += 1) {
    const request = createRequest(pipeline, call, current, { reason, round, doubts: record.doubts });
    await record.save("pending", { request });
    const answered = await ask(pipeline, call, request);
    if (!answered.ok) return answered;
    const decision = answered.value;
    if (decision.type === "decline") return stop(decline(current, decision.message));
    if (decision.type === "approve") return agree(await accept(pipeline, current, request, decision));
    if (plan.entry.own !== undefined) return stop(refuseEdit(current));
    const edited = await applyEdit(apart, call, current, decision.arguments);
    const hasNewDoubts = await record.doubts.look(fingerprintRequest(pipeline, edited.plan));
    if (edited.isAsTyped && !hasNewDoubts) {
      return agree({ ...edited.plan, approved: fingerprintPlan(pipeline, edited.plan) });
    }
    current = edited.plan;
    reason = edited.reason;
  }
  return stop(decline(current, "The arguments were edited too often; start again with a new call."));
}

/** The request a call would put before a human first; undefined when a standing rule allows it. */
export function createFirstRequest(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
): ApprovalRequest | undefined {
  if (isAllowedByRule(pipeline, plan, record)) return undefined;
  const reason = explainReason(pipeline, plan);
  return createRequest(pipeline, call, plan, { reason, round: 0, doubts: record.doubts });
}

/** A rule allows the tool, not another try of a call that may have happened. */
function isAllowedByRule(pipeline: Pipeline, { entry, connectionId }: CallPlan, record: CallRecord): boolean {
  if (entry.own !== undefined || findPinObjection(pipeline, entry) !== undefined || !record.doubts.isEmpty)
    return false;
  const { principal } = pipeline.client;
  return pipeline.rules.allows({ principal, tool: entry.name, connection: connectionId, effect: entry.effect });
}

function explainReason(pipeline: Pipeline, plan: CallPlan): string {
  const parts = [findPinObjection(pipeline, plan.entry), plan.askReason, plan.entry.policyReason];
  const said = parts.filter((part) => part !== undefined && part !== "");
  return said.length > 0 ? said.join(" ") : `This tool can ${describeEffect(plan)}, so you are asked first.`;
}

function describeEffect({ entry }: CallPlan): string {
  if (entry.effect === "delete") return "delete things";
  if (entry.effect === "admin") return "change how the account is set up";
  return entry.effect === "read" ? "read things that need your consent" : "change things";
}

function createRequest(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  question: { readonly reason: string; readonly round: number; readonly doubts: DoubtList },
): ApprovalRequest {
  const { entry, connectionId } = plan;
  const { round, doubts } = question;
  const reason = doubts.isEmpty ? question.reason : `${DOUBT} ${question.reason}`;
  // An answer to a question without the warning is none to the one with it.
  const parts = [call.callId, fingerprintPlan(pipeline, plan), round, ...doubts.names];
  const id = call.keepsAnswers === true ? createStableId(parts) : undefined;
  const used = entry.connections.find((choice) => choice.id === connectionId);
  return createApprovalRequest(
    {
      tool: entry.name,
      integration: entry.integration,
      account: used?.label,
      connection: connectionId,
      hasAccount: entry.own !== undefined && connectionId === undefined ? false : undefined,
      arguments: plan.arguments,
      files: plan.files.map(toApprovalFile),
      effect: entry.effect,
      title: entry.title,
      description: entry.description,
      reason,
      askBefore: entry.askBefore,
      principal: pipeline.client.principal,
      id,
    },
    { now: pipeline.now(), ttlMs: getTtl(pipeline, call) },
  );
}

/** One decision that counts, or the outcome when none came: an error, a late or a foreign answer approves nothing. */
async function ask(pipeline: Pipeline, call: ToolCall, request: ApprovalRequest): Promise<Step<ApprovalDecision>> {
  throwIfAborted(call.signal);
  const approver = call.approve ?? pipeline.approve;
  const unanswered = (code: string, message: string) =>
    stop<ApprovalDecision>(
      createOutcome("needs_approval", request.tool, {
        code,
        message: `${message} Nothing was run.`,
        hint: "Tell the user that their approval is needed. Do not try to get around it.",
        approval: request,
        retryable: false,
      }),
    );
  if (approver === undefined) return unanswered("approval_required", "Nobody can be asked for approval here.");
  pipeline.emit({ type: "approval_requested", callId: call.callId, toolName: request.tool });
  const { signal, expiry, close } = openAnswerWindow(getTtl(pipeline, call), call.signal);
  let answer: unknown;
  try {
    // A copy: whatever the approver does to it, the call that was planned is the one that is sent.
    answer = await withAbort(Promise.resolve(approver(structuredClone(request), { signal })), signal);
  } catch (error) {
    if (isControlFlow(error)) throw error;
    throwIfAborted(call.signal);
    if (expiry.aborted) return unanswered("approval_expired", "The request for approval was not answered in time.");
    // The human stopped the whole call (Ctrl-C), not only this question.
    if (isAbort(error)) throw error;
    return unanswered("approval_failed", "The request for approval could not be put to anybody.");
  } finally {
    close();
  }
  throwIfAborted(call.signal);
  const spent = call.keepsAnswers === true ? new Map<string, number>() : pipeline.spent;
  const verdict = decide(request, answer, { now: pipeline.now(), spent });
  return verdict.accepted ? proceed(verdict.decision) : unanswered(`approval_${verdict.reason}`, verdict.message);
}

function getTtl(pipeline: Pipeline, call: ToolCall): number {
  return call.approvalTtlMs ?? pipeline.settings.approvalTtlMs;
}

async function accept(
  pipeline: Pipeline,
  plan: CallPlan,
  request: ApprovalRequest,
  decision: Extract<ApprovalDecision, { type: "approve" }>,
): Promise<CallPlan> {
  const approved = { ...plan, approved: request.fingerprint };
  if (decision.always !== true) return approved;
  const { entry, connectionId } = plan;
  const { principal } = pipeline.client;
  const subject = { principal, tool: entry.name, connection: connectionId, effect: entry.effect };
  const isKept = entry.own === undefined && (await pipeline.rules.allow(subject));
  const note = isKept
    ? "the user allows this tool on this account from now on"
    : "a standing permission cannot be given for this tool; it is asked about every time";
  return { ...approved, notes: [...plan.notes, note] };
}

function refuseEdit({ entry, notes }: CallPlan): ToolOutcome {
  const told = {
    code: "edit_not_possible",
    message: "The user wanted it changed, which a flow tool cannot do in place. Nothing was run.",
    hint: "Ask the user what they want instead.",
    retryable: false,
  };
  return createOutcome("declined", entry.name, told, notes);
}

function decline(plan: CallPlan, message: string | undefined): ToolOutcome {
  const told = describeDecline("The user declined this call. Nothing was run.", message, cleanText);
  return createOutcome("declined", plan.entry.name, told, plan.notes);
}

const REASON_MAX = 300;

/** What a model is told of a human's no: what happened instead, the human's words, and not to try again by itself. */
function describeDecline(
  what: string,
  message: string | undefined,
  clean: (text: string, max: number) => string,
): { code: string; message: string; hint: string; retryable: boolean } {
  const reason = message === undefined || message.trim() === "" ? "" : ` Reason: ${clean(message, REASON_MAX)}`;
  return {
    code: "declined",
    message: `${what}${reason}`,
    hint: "Do not make this call again unless the user asks for it.",
    retryable: false,
  };
}
