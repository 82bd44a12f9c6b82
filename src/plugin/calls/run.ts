import { isSvcError } from "../../shared/errors.ts";
import { isAbort, isControlFlow, throwIfAborted, withAbort } from "./ask/abort.ts";
import { createFingerprint } from "./ask/fingerprint.ts";
import type { ApprovalRequest } from "./ask/request.ts";
import { CallQueue, nameAccount } from "./call-queue.ts";
import type { CatalogEntry } from "./catalog/catalog-entry.ts";
import { findFailure, nameAccountOf, noteEnd } from "./journal/account-failures.ts";
import { type CallRecord, openCallRecord } from "./journal/call-record.ts";
import { toMapKey } from "./journal/journal.ts";
import type { JournalKey } from "./journal/journal-record.ts";
import { answerFromJournal, askAgain, bindRecord } from "./journal/recall.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { ConnectionQuestion, Pipeline, ToolCall } from "./pipeline.ts";
import { answer } from "./steps/answer/answer.ts";
import { approve, previewRequest } from "./steps/approve.ts";
import { check } from "./steps/check.ts";
import { choose, findGivenConnection } from "./steps/choose.ts";
import { inspect, locate } from "./steps/locate.ts";
import { describeBreakdown, describeSvcError, settle } from "./steps/outcome.ts";
import { planOwnCall } from "./steps/own-call.ts";
import {
  type CallContext,
  type CallPlan,
  type CallStep,
  type OpenedCall,
  type OwnSend,
  openCall,
  proceed,
  type Step,
  startPlan,
  stop,
  takeSteps,
} from "./steps/plan.ts";
import { resolve } from "./steps/resolve.ts";
import { parseArguments, restore } from "./steps/restore.ts";
import { send } from "./steps/send/send.ts";

/** Steps 2 to 5, which follow {@link resolve}. Files are inspected last, for the human to see. */
const PREPARATION: readonly CallStep[] = [restore, locate, check, choose, inspect];
const OWN_PREPARATION: readonly CallStep[] = [planOwnCall];
/** Steps 6 to 10: `send` attaches the files. They run again whenever one of them asks for it. */
const EXECUTION: readonly CallStep[] = [approve, send, answer, settle];

/** A tool of the plugin itself, which is in no catalogue. */
interface OwnTool {
  readonly entry: CatalogEntry;
  readonly send: OwnSend;
}

/**
 * The one pipeline: every call of every runtime takes these steps in this order. Every answer of the service or the
 * human becomes an outcome. Throws only an AbortError when the signal fires (within a tick, and nothing is sent again)
 * and a runtime's own control flow.
 */
export async function runTool(pipeline: Pipeline, call: ToolCall, own?: OwnTool): Promise<ToolOutcome> {
  throwIfAborted(call.signal);
  const context = openCall(pipeline, call, call.turn ?? pipeline.queue.enter(call.place), own?.send);
  const work = runCall(context, call.arguments, own?.entry).finally(() => context.turn.leave());
  const outcome = await withAbort(work, context.signal);
  context.emit({ type: "finished", callId: call.callId, toolName: outcome.toolName, status: outcome.status });
  return outcome;
}

async function runCall(opened: OpenedCall, args: unknown, own: CatalogEntry | undefined): Promise<ToolOutcome> {
  const begun = await beginPlan(opened, args, own);
  if (!begun.ok) return begun.outcome;
  const { key, plan } = begun.value;
  const { turn } = opened;
  if (plan.entry.effect === "read" || opened.own !== undefined) turn.leave();
  else turn.account = nameAccountOf(plan);
  const name = toMapKey(key);
  for (let running = opened.running.get(name); running !== undefined; running = opened.running.get(name)) {
    const joined = running;
    const outcome = await turn.stepAside(() => joinRun(opened, joined));
    if (outcome !== undefined) return outcome;
  }
  const work = runOnce(opened, key, plan);
  opened.running.set(name, work);
  try {
    return await work;
  } finally {
    opened.running.delete(name);
  }
}

async function beginPlan(
  opened: OpenedCall,
  args: unknown,
  own: CatalogEntry | undefined,
): Promise<Step<{ readonly key: JournalKey; readonly plan: CallPlan }>> {
  const resolved = own === undefined ? await resolve(opened) : proceed(own);
  if (!resolved.ok) return resolved;
  const entry = resolved.value;
  const parsed = parseArguments(entry.name, args);
  if (!parsed.ok) return parsed;
  // The key uses the caller's arguments, before any step changes them.
  const { call, client } = opened;
  const asked = { tool: entry.name, arguments: parsed.value.arguments, connection: findGivenConnection(call, entry) };
  const subject = { ...asked, files: [], principal: client.principal };
  const fingerprint = createFingerprint(subject, parsed.value.canonical);
  const held = call.resumesHeld === undefined ? undefined : opened.journal.findHeld?.(fingerprint);
  const key = { callId: held?.callId ?? call.callId, fingerprint };
  return proceed({ key, plan: startPlan(opened, entry, parsed.value) });
}

/**
 * Shares one outcome between identical concurrent calls; undefined if that run was aborted by its own caller. A run
 * that a graph has left may still be in progress: its result counts, its questions and its abort do not.
 */
async function joinRun({ call, signal }: OpenedCall, running: Promise<ToolOutcome>): Promise<ToolOutcome | undefined> {
  const keepsAnswers = Boolean(call.keepsAnswers);
  try {
    const outcome = await running;
    throwIfAborted(signal);
    const isQuestion = outcome.status === "needs_approval" || outcome.status === "needs_connection";
    return keepsAnswers && isQuestion ? undefined : outcome;
  } catch (error) {
    throwIfAborted(signal);
    if (keepsAnswers || isAbort(error)) return undefined;
    throw error;
  }
}

async function runOnce(opened: OpenedCall, key: JournalKey, plan: CallPlan): Promise<ToolOutcome> {
  let record: CallRecord | undefined;
  try {
    record = await openCallRecord(opened, plan.entry, key);
    const context: CallContext = { ...opened, record };
    const repeated = record.known && (await askAgain(context, plan.entry));
    if (repeated !== undefined) return repeated;
    const prepared = await prepare(context, plan);
    const outcome = prepared.ok ? await execute(context, prepared.value) : prepared.outcome;
    await noteEnd(context, outcome);
    return prepared.ok ? await record.finish(outcome) : outcome;
  } catch (error) {
    const lost = { status: "unknown", toolName: plan.entry.name } as const;
    if (record?.isUnderWay === true) await noteEnd({ ...opened, record }, lost).catch(() => undefined);
    await record?.abandon();
    throwIfAborted(opened.signal);
    if (isControlFlow(error) || isAbort(error)) throw error;
    const details = isSvcError(error) ? describeSvcError(error) : describeBreakdown(error);
    return createOutcome("failed", plan.entry.name, details);
  }
}

async function prepare(context: CallContext, plan: CallPlan, isPreview = false): Promise<Step<CallPlan>> {
  const { known, duplicates } = context.record;
  const remembered = known && (await answerFromJournal(context, plan.entry, known, isPreview));
  if (remembered !== undefined) return stop(remembered);
  const prepared = await takeSteps(context, plan, context.own === undefined ? PREPARATION : OWN_PREPARATION);
  const isNew = known === undefined && duplicates.isEmpty;
  return isNew || !prepared.ok ? prepared : proceed(bindRecord(context, prepared.value));
}

async function execute(context: CallContext, plan: CallPlan): Promise<ToolOutcome> {
  let round = await takeSteps(context, plan, EXECUTION);
  while (round.ok) round = await takeSteps(context, round.value, EXECUTION);
  return round.outcome;
}

/** The question to a human at which a call has stopped. */
export type OpenQuestion =
  | {
      readonly kind: "approval";
      readonly request: ApprovalRequest;
      /** True while the journal knows of an earlier yes to it that was not used. */
      readonly isGranted: boolean;
      /** Tells the journal of a yes to it, in a runtime that keeps answers. */
      readonly grant: () => Promise<void>;
    }
  | { readonly kind: "connection"; readonly question: ConnectionQuestion };

/**
 * Runs the steps before sending, up to the first question. Nothing is sent, remembered or written. A call that would be
 * refused, or answered from the journal, has no question.
 */
export async function previewCall(pipeline: Pipeline, call: ToolCall): Promise<OpenQuestion | undefined> {
  throwIfAborted(call.signal);
  try {
    return await findQuestion(pipeline, call);
  } catch (error) {
    throwIfAborted(call.signal);
    if (isControlFlow(error)) throw error;
    // The call itself will report the problem.
    return undefined;
  }
}

async function findQuestion(pipeline: Pipeline, call: ToolCall): Promise<OpenQuestion | undefined> {
  let question: ConnectionQuestion | undefined;
  const opened: OpenedCall = {
    ...openCall(pipeline, call, new CallQueue().enter()),
    // A preview must not use up the one refusal of the local check.
    advised: new Set(pipeline.advised),
    emit: () => undefined,
    async chooseConnection(asked, options) {
      const chosen = await call.chooseConnection?.(asked, options);
      if (chosen === undefined) question = asked;
      return chosen;
    },
  };
  const begun = await beginPlan(opened, call.arguments, undefined);
  if (!begun.ok) return undefined;
  const { key, plan } = begun.value;
  const context: CallContext = { ...opened, record: await openCallRecord(opened, plan.entry, key) };
  const prepared = await prepare(context, plan, true);
  if (question !== undefined) return { kind: "connection", question };
  const request = prepared.ok ? await previewRequest(context, prepared.value) : undefined;
  if (request === undefined) return undefined;
  const { record } = context;
  const grant = async () => {
    const failure = await findFailure(context.journal, nameAccount(request.integration, request.connection));
    record.grant(request.id, failure?.stamp ?? "");
    await record.save("pending", { request });
  };
  return { kind: "approval", request, isGranted: record.isGranted(request.id), grant };
}
