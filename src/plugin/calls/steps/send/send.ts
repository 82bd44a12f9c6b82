import { sha256Hex } from "../../../../shared/base/hash.ts";
import type { SvcError } from "../../../../shared/errors.ts";
import { startBudget } from "../../../client/retry.ts";
import { throwIfAborted, toFailure } from "../../ask/abort.ts";
import { canonicalJson } from "../../ask/fingerprint.ts";
import { findReasonToWait, nameAccountOf } from "../../journal/account-failures.ts";
import { toMapKey } from "../../journal/journal.ts";
import { isOtherOfAccount, type JournalRecord } from "../../journal/journal-record.ts";
import { answerFromJournal } from "../../journal/recall.ts";
import { awaitSender, isUnderWay } from "../../journal/sender.ts";
import { createOutcome, type ToolOutcome } from "../../outcome.ts";
import { announceSending } from "../announce.ts";
import { awaitOwner } from "../answer/await-owner.ts";
import type { Answered } from "../answer/read-reply.ts";
import { attach, describeChangedFile } from "../attach.ts";
import { describeLostAnswer, describeRefusal, isLostAnswer } from "../outcome.ts";
import { planAgain, sendOwnCall } from "../own-call.ts";
import {
  again,
  type CallContext,
  type CallPlan,
  findPinObjection,
  fingerprintRequest,
  followEffect,
  isApproved,
  isForOwner,
  isPlainRead,
  proceed,
  type Step,
  stop,
} from "../plan.ts";
import { unknownTool } from "../resolve.ts";
import { planKeyedSend, type Repeatable, sendKeyed } from "./keyed.ts";

const READ_TRIES = 3;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;
/** Most changes of a tool's effect between approval and request, per call. */
const MAX_CHANGES = 8;

/**
 * Step 8. Sends the call if it still matches the approval; otherwise goes back to the approval. Reads, and calls that the
 * service holds for its owner, are tried up to three times within `timeoutMs` on lost connections, 429 and 503. Requests
 * that may act are sent once, and when the answer is lost the outcome is `unknown`; only a write under an idempotency key
 * that the service honours is repeated. Nothing is sent while a journal record forbids it.
 */
export async function send(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  // Looked at again when the request is made.
  const approved = isApproved(context, plan);
  const repeatable = approved ? await planKeyedSend(context, plan) : undefined;
  const { own, record } = context;
  const isForOther = isForOwner(context, plan) && plan.mustAsk && !approved;
  const heldBefore = approved ? undefined : record.known?.held;
  if (heldBefore !== undefined) return awaitOwner(context, plan, { id: heldBefore, url: undefined });
  // Held until the outcome is known: nothing else is sent to the account meanwhile.
  if (own === undefined && plan.entry.effect !== "read") {
    context.turn.account = nameAccountOf(plan);
    context.turn.isAllowed ||= approved;
    await context.turn.begin(context.signal);
    if (approved && (await findReasonToWait(context, plan, record.approval === undefined)) !== undefined) {
      return again(withoutApproval(plan));
    }
  }
  const same = own && (await planAgain(context, plan));
  if (same?.ok === false) return same;
  const changed = findChange(context, plan);
  if (changed !== undefined) return changed;
  // The human agreed to the tool in its current form.
  if (approved && findPinObjection(context, plan.entry) !== undefined) await context.pins.accept(plan.entry);
  throwIfAborted(context.signal);
  // A service that holds the call runs nothing now, and recognises it when it comes again.
  const isRecorded = !isPlainRead(plan) && !isForOther;
  const obstacle = isRecorded ? await begin(context, plan, repeatable) : undefined;
  if (obstacle !== undefined) return stepAside(context, plan, obstacle);
  throwIfAborted(context.signal);
  if (own !== undefined) return stop(await sendOwnCall(context, plan, own));
  const sent = await (repeatable === undefined
    ? sendPlainly(context, plan)
    : sendKeyed(context, plan, { repeatable, sentAt: context.now(), isRepeat: false }));
  return sent.ok ? proceed({ ...plan, answered: sent.value }) : sent;
}

/** Checks the tool again right before the request: undefined when it still matches the approval. */
function findChange(context: CallContext, plan: CallPlan): Step<CallPlan> | undefined {
  const { entry, effectChanges } = plan;
  if (followEffect(context, plan) !== plan) {
    if (effectChanges < MAX_CHANGES) return again({ ...plan, effectChanges: effectChanges + 1 });
    return stop(describeChangingEffect(plan));
  }
  const pinObjection = findPinObjection(context, entry);
  // The pin changed while the human was asked, so they approved without knowing it.
  if (pinObjection !== undefined && pinObjection !== plan.toldOfPin) return again(withoutApproval(plan));
  // The tool's effect has grown beyond the limits of the program.
  const isGone =
    context.own === undefined && context.catalog.isLimited && context.catalog.peek(entry.name) === undefined;
  return isGone ? stop(unknownTool(context.catalog, entry.name)) : undefined;
}

function describeChangingEffect({ entry, notes }: CallPlan): ToolOutcome {
  const told = {
    code: "approval_wrong_fingerprint",
    message: "What this tool does changed each time before it could be sent. Nothing was run.",
    hint: "Tell the user that the service cannot say what this tool does.",
    retryable: false,
  };
  return createOutcome("needs_approval", entry.name, told, notes);
}

function withoutApproval(plan: CallPlan): CallPlan {
  return { ...plan, approved: undefined, mustAsk: true };
}

/** Records that the request is about to be sent; returns a record that forbids it, if any. */
async function begin(
  context: CallContext,
  plan: CallPlan,
  repeatable: Repeatable | undefined,
): Promise<JournalRecord | undefined> {
  const { record, signal } = context;
  const request = fingerprintRequest(context, plan);
  const account = context.turn.stage === "sending" ? nameAccountOf(plan) : undefined;
  const isRead = plan.entry.effect === "read";
  const state = isApproved(context, plan) ? "sending" : "probing";
  const obstacle = await record.begin(state, { request, account, isRead, repeatable });
  // Aborted meanwhile: the record must not count as a request whose answer was lost.
  if (obstacle === undefined && signal?.aborted === true) await record.withdraw();
  return obstacle;
}

/** Another process sent this call or a duplicate, or holds the account; for a duplicate a human is asked. */
async function stepAside(context: CallContext, plan: CallPlan, obstacle: JournalRecord): Promise<Step<CallPlan>> {
  const { key } = context.record;
  const request = fingerprintRequest(context, plan);
  if (isOtherOfAccount(obstacle, { ...obstacle, ...key, request })) {
    const left = await awaitSender(context, obstacle);
    return left === undefined || !isUnderWay(left) ? again(plan) : stop(describeBusy(plan));
  }
  const isThisCall = toMapKey(obstacle) === toMapKey(context.record.key);
  const outcome = isThisCall ? await answerFromJournal(context, plan.entry, obstacle) : undefined;
  return outcome === undefined ? again(withoutApproval(plan)) : stop(outcome);
}

function describeBusy({ entry, notes }: CallPlan): ToolOutcome {
  const told = {
    code: "account_busy",
    message: "Another program has a call on this account under way, and its answer has not come. Nothing was run.",
    hint: "Make the same call again a little later.",
    retryable: true,
  };
  return createOutcome("failed", entry.name, told, notes);
}

async function sendPlainly(context: CallContext, plan: CallPlan): Promise<Step<Answered>> {
  const { signal } = context;
  const isHarmless = isPlainRead(plan) || (isForOwner(context, plan) && !isApproved(context, plan));
  const left = startBudget(context.settings.timeoutMs, context.now);
  for (let tries = 1; ; tries += 1) {
    const atStart = left();
    const sent = await sendOnce(context, plan, Math.max(1, atStart));
    const wait = isHarmless && tries < READ_TRIES ? waitBeforeRetry(context, sent, tries) : undefined;
    // After an answer, another try that takes as long would end without one, and hide the one that is there.
    const took = "reply" in sent ? atStart - left() : 0;
    if (wait === undefined || wait + took >= left()) {
      if ("reply" in sent) return proceed(sent);
      return stop(describeSendFailure(context, plan, { error: sent, isHarmless }));
    }
    await context.sleep(wait, signal);
    throwIfAborted(signal);
  }
}

async function sendOnce(context: CallContext, plan: CallPlan, timeoutMs: number): Promise<Answered | SvcError> {
  const { signal, client } = context;
  const { name } = plan.entry;
  const confirmed = isApproved(context, plan);
  const hasEnvelope = plan.upload === "envelope" && plan.files.length > 0;
  await announceSending(context, { toolName: name, confirmed });
  try {
    const idempotencyKey = isForOwner(context, plan) && !confirmed ? nameHeldCall(context, plan) : undefined;
    const options = { signal, timeoutMs, idempotencyKey };
    return { reply: await client.executeTool(name, attach(context, plan, confirmed), options), confirmed, hasEnvelope };
  } catch (error) {
    return toFailure(error, signal);
  }
}

/** Stable per call, also when another process sends it again. */
function nameHeldCall(context: CallContext, plan: CallPlan): string {
  const subject = [context.client.principal, plan.entry.name, fingerprintRequest(context, plan), context.call.callId];
  return `plugin-${sha256Hex(canonicalJson(subject))}`;
}

function waitBeforeRetry({ random }: CallContext, sent: Answered | SvcError, tries: number): number | undefined {
  const jittered = random() * FIRST_WAIT_MS * 2 ** tries;
  if (!("reply" in sent)) {
    const { code, retryable, retryAfterMs } = sent;
    const isTransient = code === "unreachable" || code === "timeout" || (code === "bad_response" && retryable);
    return isTransient ? fitWait(retryAfterMs ?? jittered) : undefined;
  }
  const { reply } = sent;
  const { code, retryable: said } = (reply.kind === "envelope" ? reply.envelope.error : undefined) ?? {};
  // The app has had all its time: a slow one gets no faster by being asked three times.
  if (code === "timeout") return undefined;
  // A daily limit is a 429 marked as not retryable; some services mark a time-out of the app with status 500.
  const isTransient = said ?? (reply.status === 429 || reply.status === 503);
  return isTransient ? fitWait(reply.retryAfterMs ?? jittered) : undefined;
}

function fitWait(ms: number): number | undefined {
  return ms <= MAX_WAIT_MS ? ms : undefined;
}

function describeSendFailure(
  context: CallContext,
  plan: CallPlan,
  { error, isHarmless }: { readonly error: SvcError; readonly isHarmless: boolean },
): ToolOutcome {
  if (error.code === "media_refused" || error.code === "file_missing") return describeChangedFile(plan, error);
  const mayHaveRun = error.sent !== false && isLostAnswer(error) && !isHarmless;
  return mayHaveRun ? describeLostAnswer(context, plan, error) : describeRefusal(plan, error);
}
