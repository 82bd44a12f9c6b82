import { isSvcError } from "../errors.ts";
import { isAbort, isControlFlow, throwIfAborted, withAbort } from "./ask/abort.ts";
import type { CatalogEntry } from "./catalog/catalog-entry.ts";
import { type JournalKey, toMapKey } from "./journal/journal-record.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, type ToolCall } from "./pipeline.ts";
import { answerFromJournal, bindRecord } from "./steps/answer-from-journal.ts";
import { type CallRecord, createCallKey, openCallRecord } from "./steps/call-record.ts";
import { carryOut } from "./steps/carry-out.ts";
import { findConnection } from "./steps/choose-connection.ts";
import { describeBreakdown, describeSvcError } from "./steps/describe-error.ts";
import { settleReply } from "./steps/describe-failure.ts";
import { judgeReply } from "./steps/judge-reply.ts";
import { planOwnCall } from "./steps/own-call.ts";
import { planCall, restorePlan } from "./steps/plan-call.ts";
import { prepareCall } from "./steps/prepare-call.ts";
import { resolveTool } from "./steps/resolve-tool.ts";
import { parseArguments, restoreArguments } from "./steps/restore-arguments.ts";
import { readKeyedAnswer } from "./steps/send-call.ts";
import { findRepeatable, sendKeyed } from "./steps/send-keyed.ts";

/**
 * THE pipeline: every call of every runtime takes these steps in this order. The result is a value whatever the
 * service or the human says; it throws an AbortError when the signal fires (within a tick, and nothing is sent again)
 * and a runtime's own control flow. An `own` tool is the plugin's: it is in no catalogue.
 */
export async function runTool(pipeline: Pipeline, call: ToolCall, own?: CatalogEntry): Promise<ToolOutcome> {
  throwIfAborted(call.signal);
  const outcome = await withAbort(runSteps(pipeline, call, own), call.signal);
  pipeline.emit({ type: "finished", callId: call.callId, toolName: outcome.toolName, status: outcome.status });
  return outcome;
}

async function runSteps(pipeline: Pipeline, call: ToolCall, own: CatalogEntry | undefined): Promise<ToolOutcome> {
  const resolved = own === undefined ? await resolveTool(pipeline, call) : proceed(own);
  if (!resolved.ok) return resolved.outcome;
  const entry = resolved.value;
  const change = own === undefined ? pipeline.pins.judge(entry) : undefined;
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
    const remembered = await answerFromJournal(pipeline, call, given.entry, record);
    if (remembered !== undefined) return remembered;
    const planned = await makePlan(pipeline, call, given);
    if (!planned.ok) return planned.outcome;
    const outcome = await carryOut(pipeline, call, bindRecord(pipeline, planned.value, record), record);
    return await record.finish(outcome);
  } catch (error) {
    throwIfAborted(call.signal);
    if (isControlFlow(error) || isAbort(error)) throw error;
    const details = isSvcError(error) ? describeSvcError(error) : describeBreakdown(error);
    return createOutcome("failed", given.entry.name, details);
  }
}

/**
 * Asks for the answer of a request that an earlier process sent under an idempotency key: it acted at most once, and
 * this request acts only if that one never arrived and everything is still as it was approved.
 */
async function askAgain(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  record: CallRecord,
): Promise<ToolOutcome | undefined> {
  const { known } = record;
  const repeatable = findRepeatable(known);
  if (repeatable === undefined || known === undefined) return undefined;
  const note = "the answer of this call was lost; it was asked for again under the same idempotency key";
  const plan = restorePlan(pipeline, entry, { arguments: { ...repeatable.arguments }, note });
  const answer = await sendKeyed(pipeline, call, { entry, repeatable, sentAt: known.at, isRepeat: true });
  const sent = readKeyedAnswer(pipeline, plan, answer);
  if (!sent.ok) return sent.outcome;
  return record.finish(await settleReply(pipeline, call, plan, judgeReply(sent.value.reply, sent.value)));
}

/** Steps 2 to 5, and a look at the files. */
export async function makePlan(
  pipeline: Pipeline,
  call: ToolCall,
  given: { entry: CatalogEntry; args: Record<string, unknown>; notes: readonly string[] },
): Promise<Step<CallPlan>> {
  const { entry } = given;
  if (entry.own !== undefined) return planOwnCall(pipeline, call, entry, entry.own);
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
