import { cloneJson } from "../../../shared/base/json.ts";
import { isAbort, isControlFlow, openAnswerWindow, throwIfAborted, withAbort } from "../ask/abort.ts";
import { canonicalJson } from "../ask/fingerprint.ts";
import {
  type ApprovalDecision,
  type ApprovalFile,
  type ApprovalRequest,
  createApprovalRequest,
  createStableId,
  decide,
} from "../ask/request.ts";
import type { RuleSubject } from "../ask/standing-rules.ts";
import { type CatalogEntry, mustAskFirst } from "../catalog/catalog-entry.ts";
import { BEHIND_FAILURE, findFailure, findReasonToWait, nameAccountOf } from "../journal/account-failures.ts";
import { createOutcome, decline, type ToolOutcome } from "../outcome.ts";
import { check } from "./check.ts";
import { inspect, locate } from "./locate.ts";
import { look } from "./look.ts";
import {
  again,
  type CallContext,
  type CallPlan,
  findCallEffect,
  findPinObjection,
  fingerprintPlan,
  fingerprintRequest,
  followEffect,
  isApproved,
  isForOwner,
  proceed,
  type Step,
  stop,
  takeSteps,
} from "./plan.ts";
import { parseArguments } from "./restore.ts";

/** Most edits of one call; after that it counts as declined. */
const MAX_EDITS = 8;
const WARNING = "An equal call was sent before and never answered: it may already have happened.";

/** Step 6. If a call may act and is not approved yet, finds a standing permission or asks a human. */
export async function approve(context: CallContext, given: CallPlan): Promise<Step<CallPlan>> {
  const followed = followEffect(context, given);
  const plan = { ...followed, mustAsk: followed.mustAsk || mustAskFirst(findCallEffect(followed)) };
  if (!plan.mustAsk || isApproved(context, plan)) return proceed(plan);
  if (isForOwner(context, plan)) return proceed({ ...plan, toldOfPin: findPinObjection(context, plan.entry) });
  const agreed = await seekApproval(context, { ...plan, toldOfPin: findPinObjection(context, plan.entry) });
  // Checked again: the tool may have changed while the human was asked.
  return agreed.ok ? again(agreed.value) : agreed;
}

/**
 * The tool as it is described now, if the service began to hold its calls since it was described before: its owner decides
 * then, and nobody is asked here.
 */
async function findHeld({ catalog, own }: CallContext, { entry }: CallPlan): Promise<CatalogEntry | undefined> {
  if (own !== undefined || entry.ownerApproves === true) return undefined;
  const fresh = (await catalog.refresh(entry.name).catch(() => undefined))?.entry;
  return fresh?.ownerApproves === true ? fresh : undefined;
}

/**
 * Returns the plan with the approved fingerprint. An edit is an approval only when the edited arguments pass every
 * check exactly as typed, with the same files and account; otherwise a new request shows the changed arguments.
 */
async function seekApproval(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  const { record } = context;
  await record.duplicates.find(fingerprintRequest(context, plan));
  const isByRule = isAllowedByRule(context, plan);
  const behind = await findReasonToWait(context, plan, isByRule);
  if (isByRule && behind === undefined) {
    await record.save("approved");
    const note = "allowed by the user's standing permission for this tool and account";
    return proceed({ ...plan, approved: fingerprintPlan(context, plan), notes: [...plan.notes, note] });
  }
  const held = await findHeld(context, plan);
  if (held !== undefined) return proceed({ ...plan, entry: held });
  // A refused edit may be repeated like a refused call, but only here: the next run starts with the same rules.
  const apart: CallContext = { ...context, advised: new Set() };
  const agree = async (agreed: CallPlan) => {
    await record.save("approved", { approved: agreed.approved });
    return proceed(agreed);
  };
  let current = plan;
  let reason = behind ?? explainReason(context, plan);
  if (behind !== undefined) context.turn.acceptFailures();
  const after = (await findFailure(context.journal, nameAccountOf(plan)))?.stamp ?? "";
  if (!context.call.keepsAnswers) context.turn.askedAfter = after;
  for (let round = 0; round <= MAX_EDITS; round += 1) {
    const looked = await look(context, current);
    if (!looked.ok) return looked;
    current = looked.value;
    const request = createRequest(context, current, { reason, round });
    await record.save("pending", { request });
    // A human sees the questions in the order in which the calls were made.
    await context.turn.waitToAsk(context.signal);
    const answered = await ask(context, request, behind);
    if (!answered.ok) return answered;
    const decision = answered.value;
    const isNewYes = decision.type !== "decline" && context.call.keepsAnswers === true && !record.isGranted(request.id);
    if (isNewYes) record.grant(request.id, after);
    if (decision.type === "decline") return stop(decline(current.entry.name, decision.message, current.notes));
    if (decision.type === "approve") return agree(await accept(context, current, request.fingerprint, decision.always));
    if (context.own !== undefined) return stop(refuseEdit(current));
    const edited = await lookAtEdit(context, current, await applyEdit(apart, current, decision.arguments));
    const hasNewDuplicates = await record.duplicates.find(fingerprintRequest(context, edited.plan));
    if (edited.isAsTyped && !hasNewDuplicates) {
      return agree({ ...edited.plan, approved: fingerprintPlan(context, edited.plan) });
    }
    current = edited.plan;
    reason = edited.reason;
  }
  const message = "The arguments were edited too often; start again with a new call.";
  return stop(decline(current.entry.name, message, current.notes));
}

/** The first request that a call would put before a human; undefined when no approval is needed. */
export async function previewRequest(context: CallContext, plan: CallPlan): Promise<ApprovalRequest | undefined> {
  if (!plan.mustAsk || isApproved(context, plan) || isForOwner(context, plan)) return undefined;
  await context.record.duplicates.find(fingerprintRequest(context, plan));
  const isByRule = isAllowedByRule(context, plan);
  const behind = await findReasonToWait(context, plan, isByRule);
  if ((isByRule && behind === undefined) || (await findHeld(context, plan)) !== undefined) return undefined;
  const looked = await look(context, plan);
  if (!looked.ok) return undefined;
  return createRequest(context, looked.value, { reason: behind ?? explainReason(context, plan), round: 0 });
}

/** A rule allows the tool, but not a retry of a call that may have happened. */
function isAllowedByRule(context: CallContext, plan: CallPlan): boolean {
  const { entry } = plan;
  if (context.own !== undefined || !context.record.duplicates.isEmpty) return false;
  if (findPinObjection(context, entry) !== undefined) return false;
  return context.rules.allows(toRuleSubject(context, plan));
}

function toRuleSubject({ client }: CallContext, plan: CallPlan): RuleSubject {
  const { effect } = findCallEffect(plan);
  return { principal: client.principal, tool: plan.entry.name, connection: plan.connectionId, effect };
}

function explainReason(context: CallContext, plan: CallPlan): string {
  const parts = [findPinObjection(context, plan.entry), plan.askReason, plan.entry.policyReason];
  const said = parts.filter((part) => part !== undefined && part !== "");
  return said.length > 0 ? said.join(" ") : `This ${describeEffect(plan)}, so you are asked first.`;
}

function describeEffect(plan: CallPlan): string {
  const { effect, does } = findCallEffect(plan);
  if (does !== undefined) return `call ${does}`;
  if (effect === "delete") return "tool can delete things";
  if (effect === "admin") return "tool can change how the account is set up";
  return effect === "read" ? "tool can read things that need your consent" : "tool can change things";
}

function createRequest(
  context: CallContext,
  plan: CallPlan,
  { reason, round }: { readonly reason: string; readonly round: number },
): ApprovalRequest {
  const { entry, connectionId } = plan;
  const { call, client, record } = context;
  // An answer to the question without the warning must not answer the question with it.
  const { askedAfter } = record.marks;
  const waits = !askedAfter ? [] : [`after ${askedAfter}`];
  const parts = [call.callId, fingerprintPlan(context, plan), round, ...record.duplicates.names, ...waits];
  const used = entry.connections.find((choice) => choice.id === connectionId);
  return createApprovalRequest(
    {
      ...entry,
      ...findCallEffect(plan),
      tool: entry.name,
      account: used?.label,
      connection: connectionId,
      hasAccount: context.own !== undefined && connectionId === undefined ? false : undefined,
      canEdit: context.own === undefined ? undefined : false,
      arguments: plan.arguments,
      files: listFiles(plan),
      preview: plan.look?.preview,
      previews: plan.previews,
      previewFailed: plan.look !== undefined && plan.look.preview === undefined ? true : undefined,
      reason: record.duplicates.isEmpty ? reason : `${WARNING} ${reason}`,
      principal: client.principal,
      id: call.keepsAnswers ? createStableId(parts) : undefined,
    },
    { now: context.now(), ttlMs: context.approvalTtlMs },
  );
}

function listFiles({ files }: CallPlan): ApprovalFile[] {
  return files.map(({ field, name, mimetype, size, md5, sha256, reference }) => {
    return { field, name, mimetype, size, md5, sha256, reference };
  });
}

/** Returns one valid decision, or the outcome without one: an error, a late or a foreign answer approves nothing. */
async function ask(
  context: CallContext,
  request: ApprovalRequest,
  behind: string | undefined,
): Promise<Step<ApprovalDecision>> {
  const { call, approve: approver } = context;
  throwIfAborted(context.signal);
  const unanswered = (code: string, message: string) => {
    const hint = "Tell the user that their approval is needed. Do not try to get around it.";
    const told = { code, message: `${message} Nothing was run.`, hint, approval: request, retryable: false };
    return stop<ApprovalDecision>(createOutcome("needs_approval", request.tool, told));
  };
  if (approver === undefined) return unanswered("approval_required", "Nobody can be asked for approval here.");
  context.emit({ type: "approval_requested", callId: call.callId, toolName: request.tool });
  const { signal, expiry, close } = openAnswerWindow(context.approvalTtlMs, context.signal);
  let answer: unknown;
  try {
    // A copy, so that the approver cannot change the planned call.
    const options = { signal, isGranted: context.record.isGranted(request.id), isAgain: behind !== undefined };
    const put = () => withAbort(Promise.resolve(approver(cloneJson(request) as typeof request, options)), signal);
    answer = await context.turn.stepAside(put, Boolean(call.keepsAnswers));
  } catch (error) {
    if (isControlFlow(error)) throw error;
    throwIfAborted(context.signal);
    if (expiry.aborted) return unanswered("approval_expired", "The request for approval was not answered in time.");
    // The human stopped the whole call (Ctrl-C), not only this question.
    if (isAbort(error)) throw error;
    if (behind !== undefined) return unanswered(BEHIND_FAILURE, behind);
    return unanswered("approval_failed", "The request for approval could not be put to anybody.");
  } finally {
    close();
  }
  throwIfAborted(context.signal);
  const spent = call.keepsAnswers ? new Map<string, number>() : context.spent;
  const verdict = decide(request, answer, { now: context.now(), spent });
  return verdict.accepted ? proceed(verdict.decision) : unanswered(`approval_${verdict.reason}`, verdict.message);
}

async function accept(context: CallContext, plan: CallPlan, approved: string, always = false): Promise<CallPlan> {
  if (!always) return { ...plan, approved };
  const isKept = context.own === undefined && (await context.rules.allow(toRuleSubject(context, plan)));
  const note = isKept
    ? "the user allows this tool on this account from now on"
    : "a standing permission cannot be given for this tool; it is asked about every time";
  return { ...plan, approved, notes: [...plan.notes, note] };
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

interface AppliedEdit {
  readonly plan: CallPlan;
  /** True when the call would be sent exactly as typed. */
  readonly isAsTyped: boolean;
  readonly reason: string;
}

/** The edit with a look at what it would do, which is what it is bound to; one that cannot work is not used. */
async function lookAtEdit(context: CallContext, plan: CallPlan, edited: AppliedEdit): Promise<AppliedEdit> {
  if (!edited.isAsTyped) return edited;
  const looked = await look(context, edited.plan);
  if (looked.ok) return { ...edited, plan: looked.value };
  const { message = "" } = looked.outcome;
  return { plan, isAsTyped: false, reason: `Your edit cannot be used; this is the call before it. ${message}` };
}

/** Runs the typed arguments through steps 3 and 4; if they are refused, the plan stays unchanged. */
async function applyEdit(context: CallContext, plan: CallPlan, typed: Record<string, unknown>): Promise<AppliedEdit> {
  const keep = ({ message, details = [] }: ToolOutcome): AppliedEdit => {
    const why = [message, details.join("; ")].filter(Boolean).join(" ");
    return { plan, isAsTyped: false, reason: `Your edit cannot be used; this is the call before it. ${why}` };
  };
  const parsed = parseArguments(plan.entry.name, typed);
  if (!parsed.ok) return keep(parsed.outcome);
  const fresh: CallPlan = { ...plan, arguments: parsed.value.arguments, askReason: undefined, notes: [] };
  const edited = await takeSteps(context, fresh, [locate, check, inspect]);
  if (!edited.ok) return keep(edited.outcome);
  const { arguments: args, files, located, notes, askReason } = edited.value;
  const kept = [...plan.notes, "the user edited the arguments", ...notes];
  const next: CallPlan = { ...plan, arguments: args, files, located, notes: kept };
  // They were not shown that the call does more now.
  const isAsTyped =
    findCallEffect(next).effect === findCallEffect(plan).effect &&
    askReason === undefined &&
    canonicalJson(args) === canonicalJson(parsed.value.arguments) &&
    canonicalJson(listFiles(next)) === canonicalJson(listFiles(plan));
  const adjusted = notes.length === 0 ? "a file changed or the arguments were completed" : notes.join("; ");
  return { plan: next, isAsTyped, reason: `This is your edit as it would be sent (${adjusted}).` };
}
