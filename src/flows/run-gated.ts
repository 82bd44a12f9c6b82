import { throwIfAborted } from "../approvals/abort.ts";
import { beginCall } from "../approvals/begin-call.ts";
import { describeDecline } from "../approvals/describe-decline.ts";
import { createFingerprint } from "../approvals/fingerprint.ts";
import type { CallJournal } from "../approvals/journal.ts";
import { type JournalKey, type JournalRecord, toMapKey } from "../approvals/journal-record.ts";
import { keepOutcome } from "../approvals/keep-outcome.ts";
import { isSvcError } from "../errors.ts";
import type { FlowView } from "../wire/flow.ts";
import { answerFromJournal, describeUnknown, keepWatching } from "./answer-from-journal.ts";
import { type AskParts, askHuman, createFlowRequest, type FlowCall, type FlowQuestion } from "./ask-human.ts";
import { describeFlow } from "./describe-flow.ts";
import { cleanText, createFlowOutcome, describeFlowError, type FlowOutcome, isOutcome } from "./flow-outcome.ts";
import { mayHaveActed } from "./may-have-acted.ts";
import { type RunningCalls, runOnce } from "./run-once.ts";

/** What {@link runGated} works with. */
export interface GateParts extends AskParts {
  readonly journal: CallJournal;
  readonly running: RunningCalls;
}

/** Something a flow tool does only after a human said yes. */
export interface GatedAction {
  /** What the caller asked for; with the call id it names the call in the journal. */
  readonly arguments: Record<string, unknown>;
  /** Reads what would happen now; an outcome ends the call. Read again after the yes: it must still be the same. */
  prepare(): Promise<FlowQuestion | FlowOutcome>;
  /** Does it; the flow as the service answers. */
  send(): Promise<FlowView>;
  /** Watches the flow after that. What was done stays done, whatever becomes of the watch. */
  follow(from: { readonly view: FlowView } | { readonly id: string }): Promise<FlowOutcome>;
}

/**
 * Does something to a flow after a human approved exactly what was shown, at most once per call: the journal remembers
 * what was sent, so that neither a crash nor a re-run does it twice. A lost answer is `unknown`, never repeated. The
 * same call made again after one that ended during the watch goes on with the watch.
 */
export async function runGated(
  parts: GateParts,
  call: FlowCall,
  tool: string,
  action: GatedAction,
): Promise<FlowOutcome> {
  const journal = call.journal ?? parts.journal;
  const subject = { tool, arguments: action.arguments, connection: undefined, files: [], principal: parts.principal };
  const key = { callId: call.callId, fingerprint: createFingerprint(subject) };
  return runOnce(parts.running, toMapKey(key), call, () =>
    passGate({ ...parts, journal }, call, key, { tool, action }),
  );
}

async function passGate(
  parts: GateParts,
  call: FlowCall,
  key: JournalKey,
  { tool, action }: { readonly tool: string; readonly action: GatedAction },
): Promise<FlowOutcome> {
  const { journal } = parts;
  await journal.refresh?.();
  const describe = (state: JournalRecord["state"], more: Partial<JournalRecord> = {}): JournalRecord => {
    return { ...key, state, at: parts.now(), tool, ...more };
  };
  const end = (outcome: FlowOutcome) => journal.record(describe("done", { outcome }));
  const answer = (known: JournalRecord) =>
    answerFromJournal(tool, known, async (id) => {
      const outcome = await watchOn(action, call, id);
      return outcome && keepOutcome(outcome, () => end(outcome));
    });
  const known = await journal.find(key);
  const remembered = known && (await answer(known));
  if (remembered !== undefined) return remembered;
  const question = await action.prepare();
  if (isOutcome(question)) return question;
  const request = createFlowRequest(parts, call, question);
  const { id, fingerprint, expiresAt } = request;
  const approval = { id, fingerprint, expiresAt };
  await journal.record(describe("pending", { approval }));
  const decision = await askHuman(parts, call, request);
  if (isOutcome(decision)) return decision;
  if (decision.type !== "approve") return refuse(tool, decision);
  const now = await action.prepare();
  if (isOutcome(now)) return now;
  if (createFlowRequest(parts, call, now).fingerprint !== fingerprint) return describeChange(tool);
  // Whatever another process has done with this call was done since the first look: it was not answered then.
  const overtaken = await beginCall(journal, describe("sending", { approval }), { known: [], isKnown: () => true });
  if (overtaken !== undefined) return (await answer(overtaken)) ?? describeUnknown(tool, "It was sent meanwhile.");
  // Given up before anything was sent: this must not be taken for a request whose answer was lost.
  if (call.signal?.aborted === true) await journal.forget(key);
  throwIfAborted(call.signal);
  const sent = await send(tool, action, call);
  if (isOutcome(sent)) {
    if (sent.status === "unknown") return sent;
    return keepOutcome(sent, () => (sent.retryable === true ? journal.forget(key) : end(sent)));
  }
  // The watch may outlive the caller or this process. A failure shows at the second writing, if it lasts.
  await end(keepWatching(describeFlow(tool, sent), sent.flow.id)).catch(() => undefined);
  const outcome = await action.follow({ view: sent });
  return keepOutcome(outcome, () => end(outcome));
}

/** Undefined when the flow cannot be watched. */
async function watchOn(action: GatedAction, call: FlowCall, id: string): Promise<FlowOutcome | undefined> {
  try {
    return await action.follow({ id });
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return undefined;
  }
}

async function send(tool: string, action: GatedAction, call: FlowCall): Promise<FlowView | FlowOutcome> {
  try {
    return await action.send();
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return mayHaveActed(error) ? describeUnknown(tool, cleanText(error.message, 300)) : describeFlowError(tool, error);
  }
}

function describeChange(tool: string): FlowOutcome {
  return createFlowOutcome("failed", tool, {
    code: "flow_changed",
    message: "The flow is not as it was when it was approved. Nothing was done.",
    hint: "Make the call again, so that the user sees the flow as it is now.",
    retryable: true,
  });
}

function refuse(
  tool: string,
  decision: { type: "edit" } | { type: "decline"; message?: string | undefined },
): FlowOutcome {
  if (decision.type === "edit") {
    return createFlowOutcome("declined", tool, {
      code: "edit_not_possible",
      message: "The user wanted it changed, which a flow tool cannot do in place. Nothing was done.",
      hint: "Ask the user what they want instead.",
      retryable: false,
    });
  }
  const told = describeDecline("The user declined. Nothing was done.", decision.message, cleanText);
  return createFlowOutcome("declined", tool, told);
}
