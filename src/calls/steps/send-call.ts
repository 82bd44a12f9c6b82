import type { ExecuteReply } from "../../client/reply.ts";
import { isSvcError, type SvcError } from "../../errors.ts";
import { fillFileArguments } from "../../media/send/inspect-files.ts";
import { createFilesBody } from "../../media/send/send-files.ts";
import { throwIfAborted } from "../ask/abort.ts";
import type { JournalRecord } from "../journal/journal-record.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import { type CallPlan, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import type { CallRecord } from "./call-record.ts";
import { describeSvcError } from "./describe-error.ts";
import { createUnknownOutcome } from "./describe-failure.ts";
import type { Repeatable } from "./judge-repeat.ts";
import type { SentRequest } from "./judge-reply.ts";
import { sendOwnCall } from "./own-call.ts";
import { isApproved } from "./plan-call.ts";
import { unknownTool } from "./resolve-tool.ts";
import { isLostAnswer, type KeyedAnswer, sendKeyed } from "./send-keyed.ts";

const READ_TRIES = 3;
const FIRST_WAIT_MS = 500;
const MAX_WAIT_MS = 20_000;

/** Nothing was sent, because of this record of the journal: see `CallRecord.begin`. */
export interface Obstructed {
  readonly obstacle: JournalRecord;
}

/** An answer, and what the answered request held. */
export interface Answered extends SentRequest {
  readonly reply: ExecuteReply;
}

/**
 * Steps 7 and 8. Streams files into the request and sends it. Reads are tried up to three times on lost connections,
 * 429 and 503; anything that may act is sent once, and when its answer is lost the outcome is `unknown`. A write under
 * an idempotency key that the service honours (`repeatable`) is the exception: its answer is asked for again. Nothing
 * is sent while the journal has something that stands in the way.
 */
export async function sendCall(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
  repeatable: Repeatable | undefined,
): Promise<Step<Answered> | Obstructed> {
  const isRead = isPlainRead(plan);
  throwIfAborted(call.signal);
  // It came to do more since it was found, and the program does not allow that.
  const { own } = plan.entry;
  if (own === undefined && pipeline.catalog.isLimited && pipeline.catalog.peek(plan.entry.name) === undefined)
    return stop(unknownTool(pipeline, plan.entry.name));
  const state = isApproved(pipeline, plan) ? "sending" : "probing";
  const sentAt = pipeline.now();
  const obstacle = isRead ? undefined : await record.begin(state, plan, repeatable);
  if (obstacle !== undefined) return { obstacle };
  // Given up meanwhile: this must not be taken for a request whose answer was lost.
  if (!isRead && call.signal?.aborted === true) await record.withdraw();
  throwIfAborted(call.signal);
  if (own !== undefined) return stop(await sendOwnCall(pipeline, call, plan, record, own));
  if (repeatable !== undefined) {
    const answer = await sendKeyed(pipeline, call, { entry: plan.entry, repeatable, sentAt, isRepeat: false });
    return readKeyedAnswer(pipeline, plan, answer);
  }
  for (let tries = 1; ; tries += 1) {
    const sent = await sendOnce(pipeline, call, plan);
    const wait = isRead && tries < READ_TRIES ? waitBeforeRetry(pipeline, sent, tries) : undefined;
    if (wait === undefined)
      return sent.kind === "reply" ? proceed(sent.answered) : stop(toOutcome(pipeline, plan, sent));
    await pipeline.sleep(wait, call.signal);
    throwIfAborted(call.signal);
  }
}

/** The answer to a keyed request, or the outcome when there is none. */
export function readKeyedAnswer(pipeline: Pipeline, plan: CallPlan, answer: KeyedAnswer): Step<Answered> {
  if (answer.kind === "reply") return proceed({ reply: answer.reply, confirmed: true, hasEnvelope: false });
  if (answer.kind === "stopped") {
    return stop({ ...createUnknownOutcome(pipeline, plan.entry, answer.why), notes: [...plan.notes] });
  }
  const { error } = answer;
  if (answer.kind === "refused") return stop(toOutcome(pipeline, plan, { kind: "error", error }));
  const why = `The request left, and then: ${cleanText(error.message, 300)}`;
  return stop({ ...createUnknownOutcome(pipeline, plan.entry, why), notes: [...plan.notes] });
}

/** True for a call that the journal knows nothing of. */
export function isPlainRead(plan: CallPlan): boolean {
  return plan.entry.effect === "read" && !plan.mustAsk;
}

type Sent =
  | { readonly kind: "reply"; readonly answered: Answered }
  | { readonly kind: "error"; readonly error: SvcError };

async function sendOnce(pipeline: Pipeline, call: ToolCall, plan: CallPlan): Promise<Sent> {
  const confirmed = isApproved(pipeline, plan);
  const hasEnvelope = plan.upload === "envelope" && plan.files.length > 0;
  const { name } = plan.entry;
  throwIfAborted(call.signal);
  pipeline.emit({ type: "sending", callId: call.callId, toolName: name, confirmed });
  const options = {
    ...(call.signal === undefined ? {} : { signal: call.signal }),
    ...(pipeline.settings.timeoutMs === undefined ? {} : { timeoutMs: pipeline.settings.timeoutMs }),
  };
  try {
    const reply = await pipeline.client.executeTool(name, buildBody(pipeline, plan, confirmed), options);
    return { kind: "reply", answered: { reply, confirmed, hasEnvelope } };
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return { kind: "error", error };
  }
}

function buildBody(pipeline: Pipeline, plan: CallPlan, confirmed: boolean) {
  const connection = plan.connectionId === undefined ? {} : { connectionId: plan.connectionId };
  const request = { arguments: plan.arguments, ...connection, ...(confirmed ? { confirmed } : {}) };
  if (plan.files.length === 0) return request;
  if (plan.upload === "envelope") return createFilesBody(request, plan.files, pipeline.roots);
  // Uploaded files go by their storage key; one that is not uploaded yet by its own reference, to be asked for. Fields
  // tell no files apart: one named "a.b" and the b of an a read the same.
  const files = plan.files.map((file) => ({ ...file, pointer: plan.uploaded.get(file.reference) ?? file.reference }));
  return { ...request, arguments: fillFileArguments(plan.arguments, files) };
}

function waitBeforeRetry(pipeline: Pipeline, sent: Sent, tries: number): number | undefined {
  const jittered = pipeline.random() * FIRST_WAIT_MS * 2 ** tries;
  if (sent.kind === "error") {
    const { code, retryable, retryAfterMs } = sent.error;
    const isTransient = code === "unreachable" || code === "timeout" || (code === "bad_response" && retryable);
    return isTransient ? fitWait(retryAfterMs ?? jittered) : undefined;
  }
  const { reply } = sent.answered;
  if (reply.status !== 429 && reply.status !== 503) return undefined;
  // A daily limit is a 429 that says it is not worth another try.
  if (reply.kind === "envelope" && reply.envelope.error?.retryable === false) return undefined;
  return fitWait(reply.retryAfterMs ?? jittered);
}

function fitWait(ms: number): number | undefined {
  return ms <= MAX_WAIT_MS ? ms : undefined;
}

function toOutcome(pipeline: Pipeline, plan: CallPlan, sent: Extract<Sent, { kind: "error" }>): ToolOutcome {
  const { error } = sent;
  const { entry, notes } = plan;
  if (error.code === "media_refused" || error.code === "file_missing") return describeChangedFile(plan, error);
  const mayHaveRun = error.sent !== false && isLostAnswer(error) && !isPlainRead(plan);
  if (mayHaveRun) {
    const unknown = createUnknownOutcome(
      pipeline,
      entry,
      `The request left, and then: ${cleanText(error.message, 300)}`,
    );
    return { ...unknown, notes: [...notes] };
  }
  const nothing = error.sent === false ? " Nothing was sent." : "";
  const details = describeSvcError(error);
  return createOutcome("failed", entry.name, { ...details, message: `${details.message}${nothing}` }, notes);
}

function describeChangedFile(plan: CallPlan, error: SvcError): ToolOutcome {
  const isApprovalVoid = plan.approved !== undefined;
  return createOutcome(
    "failed",
    plan.entry.name,
    {
      code: error.serviceCode ?? error.code,
      message: `${cleanText(error.message)} The request was not completed, so nothing was run.`,
      hint: isApprovalVoid
        ? "The approval was for the file as it was. Make the call again, so that the user sees the file as it is now."
        : cleanText(error.hint ?? "Check the file and make the call again."),
      retryable: true,
    },
    plan.notes,
  );
}
