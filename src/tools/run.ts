import { type JournalKey, type JournalRecord, toMapKey } from "../approvals/journal-record.ts";
import { isSvcError } from "../errors.ts";
import { isControlFlow, throwIfAborted, withAbort } from "./abort.ts";
import { answerFromJournal, bindRecord, createUnknownOutcome } from "./answer-from-journal.ts";
import { answerObjection, nameObjection, type RaisedObjection } from "./answer-objection.ts";
import { awaitConnection } from "./await-connection.ts";
import { isApproved } from "./bind-plan.ts";
import { type CallRecord, createCallKey, openCallRecord } from "./call-record.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { findConnection } from "./choose-connection.ts";
import { describeSvcError } from "./describe-error.ts";
import { describeFailure, describeKeyProblem, describeMissingConnection } from "./describe-failure.ts";
import { type Judgement, judgeReply } from "./judge-reply.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { CallPlan, Pipeline, Step, ToolCall } from "./pipeline.ts";
import { findPinObjection, followEffect, planCall, restorePlan } from "./plan-call.ts";
import { prepareCall } from "./prepare-call.ts";
import { requestApproval } from "./request-approval.ts";
import { resolveTool } from "./resolve-tool.ts";
import { parseArguments, restoreArguments } from "./restore-arguments.ts";
import { cleanText } from "./safe-text.ts";
import { type Answered, readKeyedAnswer, sendCall } from "./send-call.ts";
import { findRepeatable, planKeyedSend, sendKeyed } from "./send-keyed.ts";

/** How often a tool may change its effect between the yes and the request, of one call. */
const MAX_CHANGES = 8;

/**
 * THE pipeline: every call of every runtime takes these steps in this order. The result is a value whatever the
 * service or the human says; it throws an AbortError when the signal fires (within a tick, and nothing is sent again)
 * and a runtime's own control flow.
 */
export async function runTool(pipeline: Pipeline, call: ToolCall): Promise<ToolOutcome> {
  throwIfAborted(call.signal);
  const outcome = await withAbort(runSteps(pipeline, call), call.signal);
  pipeline.emit({ type: "finished", callId: call.callId, toolName: outcome.toolName, status: outcome.status });
  return outcome;
}

async function runSteps(pipeline: Pipeline, call: ToolCall): Promise<ToolOutcome> {
  const resolved = await resolveTool(pipeline, call);
  if (!resolved.ok) return resolved.outcome;
  const entry = resolved.value;
  const change = pipeline.pins.judge(entry);
  if (change !== undefined) pipeline.emit({ type: "tool_not_pinned", change });
  const parsed = parseArguments(entry.name, call.arguments);
  if (!parsed.ok) return parsed.outcome;
  const key = createCallKey(pipeline, call, { entry, args: parsed.value.args });
  for (let running = pipeline.running.get(toMapKey(key)); running !== undefined; ) {
    const outcome = await (call.keepsAnswers === true ? joinEarlierRun(call, running) : joinRun(call, running));
    if (outcome !== undefined) return outcome;
    running = pipeline.running.get(toMapKey(key));
  }
  const work = runOnce(pipeline, call, key, { entry, ...parsed.value });
  pipeline.running.set(toMapKey(key), work);
  try {
    return await work;
  } finally {
    pipeline.running.delete(toMapKey(key));
  }
}

/** The same call made twice at once has one outcome; one that its own caller gave up has none. */
async function joinRun(call: ToolCall, running: Promise<ToolOutcome>): Promise<ToolOutcome | undefined> {
  try {
    return await running;
  } catch (error) {
    throwIfAborted(call.signal);
    if (isAbort(error)) return undefined;
    throw error;
  }
}

/** A run that a graph has left may still be under way: what it did counts, its questions and its abort do not. */
async function joinEarlierRun(call: ToolCall, running: Promise<ToolOutcome>): Promise<ToolOutcome | undefined> {
  const outcome = await running.catch(() => undefined);
  throwIfAborted(call.signal);
  return outcome?.status === "needs_approval" || outcome?.status === "needs_connection" ? undefined : outcome;
}

async function runOnce(
  pipeline: Pipeline,
  call: ToolCall,
  key: JournalKey,
  given: { entry: CatalogEntry; args: Record<string, unknown>; notes: readonly string[] },
): Promise<ToolOutcome> {
  try {
    const record = await openCallRecord(pipeline, call, given.entry, key);
    const repeated = await askAgain(pipeline, call, given.entry, record);
    if (repeated !== undefined) return repeated;
    const remembered = answerFromJournal(pipeline, call, given.entry, record.known);
    if (remembered !== undefined) return remembered;
    const planned = await makePlan(pipeline, call, given);
    if (!planned.ok) return planned.outcome;
    const outcome = await carryOut(pipeline, call, bindRecord(pipeline, planned.value, record), record);
    return await record.finish(outcome);
  } catch (error) {
    throwIfAborted(call.signal);
    if (isControlFlow(error) || isAbort(error)) throw error;
    return describeBreakdown(given.entry, error);
  }
}

/**
 * Asks for the answer of a request that an earlier process sent under an idempotency key: it acted at most once, and
 * this request acts only if that one never arrived.
 */
async function askAgain(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  record: CallRecord,
): Promise<ToolOutcome | undefined> {
  const repeatable = findRepeatable(pipeline, record.known);
  if (repeatable === undefined) return undefined;
  const note = "the answer of this call was lost; it was asked for again under the same idempotency key";
  const plan = restorePlan(pipeline, entry, { arguments: { ...repeatable.arguments }, note });
  const sent = readKeyedAnswer(pipeline, plan, await sendKeyed(pipeline, call, entry, repeatable));
  if (!sent.ok) return sent.outcome;
  return record.finish(await settle(pipeline, call, plan, judgeReply(sent.value.reply, sent.value)));
}

/** Steps 2 to 5, and a look at the files. */
export async function makePlan(
  pipeline: Pipeline,
  call: ToolCall,
  given: { entry: CatalogEntry; args: Record<string, unknown>; notes: readonly string[] },
): Promise<Step<CallPlan>> {
  const { entry } = given;
  const restored = restoreArguments(entry, given.args, pipeline.settings.profile);
  const { validation } = pipeline.settings;
  const prepared = prepareCall(entry, restored.args, { validation, advised: pipeline.advised });
  if (!prepared.ok) return prepared;
  const connection = await findConnection(pipeline, call, entry);
  if (!connection.ok) return connection;
  return planCall(pipeline, call, {
    entry: { ...entry, connections: connection.value.choices },
    prepared: prepared.value,
    connectionId: connection.value.id,
    notes: [...given.notes, ...restored.notes],
  });
}

/** Steps 6 to 10: approve, send, answer objections, each at most once. */
async function carryOut(pipeline: Pipeline, call: ToolCall, first: CallPlan, record: CallRecord): Promise<ToolOutcome> {
  const answered = new Set<string>();
  let plan = first;
  let toldOfPin: string | undefined;
  for (let changes = 0; ; ) {
    plan = followEffect(pipeline, plan);
    if (plan.mustAsk && !isApproved(pipeline, plan)) {
      toldOfPin = findPinObjection(pipeline, plan.entry);
      const approval = await requestApproval(pipeline, call, plan, record);
      if (!approval.ok) return approval.outcome;
      plan = approval.value;
      continue;
    }
    const repeatable = isApproved(pipeline, plan) ? await planKeyedSend(pipeline, call, plan) : undefined;
    if (followEffect(pipeline, plan) !== plan) {
      changes += 1;
      if (changes > MAX_CHANGES) return describeRestless(plan);
      continue;
    }
    const pinObjection = findPinObjection(pipeline, plan.entry);
    if (pinObjection !== undefined && pinObjection !== toldOfPin) {
      // Pinned otherwise while the human was asked: they agreed to the tool without knowing.
      plan = { ...plan, approved: undefined, mustAsk: true };
      continue;
    }
    if (pinObjection !== undefined) await pipeline.pins.accept(plan.entry);
    const sent = await sendCall(pipeline, call, plan, record, repeatable);
    if ("obstacle" in sent) {
      const overtaken = answerOvertaken(pipeline, call, plan, record, sent.obstacle);
      if (overtaken !== undefined) return overtaken;
      plan = { ...plan, approved: undefined, mustAsk: true };
      continue;
    }
    if (!sent.ok) return sent.outcome;
    const judgement = judgeReply(sent.value.reply, sent.value);
    const objection = findObjection(judgement, sent.value, answered);
    if (objection === undefined) {
      const canConnect = judgement.kind === "needs_connection" && !answered.has(judgement.kind);
      answered.add(judgement.kind);
      // While a human connects the app, nothing is under way: whoever stops here leaves no doubt behind.
      if (canConnect && isApproved(pipeline, plan)) await record.save("approved", { approved: plan.approved });
      // Made again unchanged, as the document says, once the app can be used.
      if (canConnect && (await awaitConnection(pipeline, call, plan, judgement.failure))) continue;
      return settle(pipeline, call, plan, judgement);
    }
    answered.add(nameObjection(objection));
    const next = await answerObjection(pipeline, call, plan, objection);
    if (!next.ok) return next.outcome;
    plan = next.value;
  }
}

/** What another process has made of this call in the meantime; undefined when an equal call is in the way. */
function answerOvertaken(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
  obstacle: JournalRecord,
): ToolOutcome | undefined {
  if (toMapKey(obstacle) !== toMapKey(record.key)) return undefined;
  return answerFromJournal(pipeline, call, plan.entry, obstacle);
}

/** The objection that is still worth an answer. A confirmation asked for after it was given is a refusal. */
function findObjection(judgement: Judgement, sent: Answered, answered: Set<string>): RaisedObjection | undefined {
  switch (judgement.kind) {
    case "success":
    case "needs_connection":
    case "key":
    case "failure":
      return undefined;
    default: {
      const objection = { kind: judgement.kind, failure: judgement.failure };
      if (objection.kind === "confirmation" && sent.confirmed) return undefined;
      return answered.has(nameObjection(objection)) ? undefined : objection;
    }
  }
}

async function settle(pipeline: Pipeline, call: ToolCall, plan: CallPlan, judgement: Judgement): Promise<ToolOutcome> {
  if (judgement.kind === "success") {
    return describeSuccess(pipeline, call, plan, judgement.result);
  }
  const { failure } = judgement;
  if (failure.leavesDoubt && plan.entry.effect !== "read") {
    const unknown = createUnknownOutcome(pipeline, plan.entry, cleanText(failure.message, 300));
    return { ...unknown, notes: [...plan.notes] };
  }
  if (judgement.kind === "needs_connection") return describeMissingConnection(pipeline, call, plan, failure);
  if (judgement.kind === "key") return describeKeyProblem(plan, failure);
  return describeFailure(plan, failure);
}

/** What was done stays done, even when its result cannot be kept here. */
async function describeSuccess(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  answer: unknown,
): Promise<ToolOutcome> {
  const { result, notes } = await receive(pipeline, call, answer);
  const allNotes = [...plan.notes, ...notes];
  try {
    return createOutcome("succeeded", plan.entry.name, await pipeline.results.cap(result), allNotes);
  } catch {
    const note = "the result was too large to show and could not be stored on this machine";
    return createOutcome("succeeded", plan.entry.name, {}, [...allNotes, note]);
  }
}

/** A receiver that fails, or is stopped, changes nothing. */
async function receive(pipeline: Pipeline, { signal }: ToolCall, result: unknown) {
  try {
    return (await pipeline.receiveResult?.(result, { signal })) ?? { result, notes: [] };
  } catch {
    return { result, notes: [] };
  }
}

/** A tool whose effect is another one each time it is looked at. */
function describeRestless(plan: CallPlan): ToolOutcome {
  const told = {
    code: "approval_wrong_fingerprint",
    message: "What this tool does changed each time before it could be sent. Nothing was run.",
    hint: "Tell the user that the service cannot say what this tool does.",
    retryable: false,
  };
  return createOutcome("needs_approval", plan.entry.name, told, plan.notes);
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** Something on this machine failed: a full disk under the journal, say. Details stay out of the conversation. */
function describeBreakdown(entry: CatalogEntry, error: unknown): ToolOutcome {
  if (isSvcError(error)) return createOutcome("failed", entry.name, describeSvcError(error));
  const code = error instanceof Error && "code" in error ? String(error.code) : "unexpected";
  return createOutcome("failed", entry.name, {
    code: "internal",
    message: `The call could not be carried out on this machine (${code}).`,
    hint: "Tell the user; check the disk and the state folder.",
    retryable: false,
  });
}
