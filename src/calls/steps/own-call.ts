import { isSvcError } from "../../errors.ts";
import { throwIfAborted } from "../ask/abort.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import {
  type CallPlan,
  type OwnAnswer,
  type OwnSend,
  type Pipeline,
  proceed,
  type Step,
  stop,
  type ToolCall,
} from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import type { CallRecord } from "./call-record.ts";
import { createUnknownOutcome } from "./describe-failure.ts";
import { fingerprintPlan } from "./plan-call.ts";

/** An outcome as the journal has it: with the id of the flow while it is watched. */
interface KeptOutcome extends ToolOutcome {
  readonly watching?: string;
}

/** Note on something that was begun, and whose watch was cut off. */
export const NOT_WATCHED = "the flow could not be watched to the end; look at it with svc_get_flow";

/** The plan of an own tool's call: what its tool says would happen now. */
export async function planOwnCall(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  own: OwnSend,
): Promise<Step<CallPlan>> {
  try {
    const planned = await own.plan();
    throwIfAborted(call.signal);
    if (!planned.ok) return planned;
    const { title, description, reason, account, arguments: args } = planned.value;
    return proceed({
      entry: {
        ...entry,
        title,
        description,
        policyReason: reason,
        connections: account === undefined ? [] : [account],
      },
      arguments: args,
      files: [],
      connectionId: account?.id,
      mustAsk: true,
      askReason: undefined,
      approved: undefined,
      upload: pipeline.settings.upload,
      uploaded: new Map(),
      notes: [],
    });
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return stop(createOutcome("failed", entry.name, own.describeError(error)));
  }
}

/** The plan when it is still as it was approved, else the outcome. */
export async function planAgain(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  own: OwnSend,
): Promise<Step<CallPlan>> {
  const now = await planOwnCall(pipeline, call, plan.entry, own);
  if (!now.ok || fingerprintPlan(pipeline, now.value) === plan.approved) return now.ok ? proceed(plan) : now;
  return stop(
    createOutcome("failed", plan.entry.name, {
      code: "flow_changed",
      message: "The flow is not as it was when it was approved. Nothing was run.",
      hint: "Make the call again, so that the user sees the flow as it is now.",
      retryable: true,
    }),
  );
}

/** Sends, and watches what was begun: the journal has the answer before, as the watch may outlive this process. */
export async function sendOwnCall(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  record: CallRecord,
  own: OwnSend,
): Promise<ToolOutcome> {
  const { entry } = plan;
  pipeline.emit({ type: "sending", callId: call.callId, toolName: entry.name, confirmed: true });
  let answer: OwnAnswer;
  try {
    answer = await own.send();
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    if (own.mayHaveActed(error)) return createUnknownOutcome(pipeline, entry, cleanText(error.message, 300));
    return createOutcome("failed", entry.name, own.describeError(error), plan.notes);
  }
  const outcome = addNotes(answer.outcome, ...plan.notes);
  const kept: KeptOutcome = { ...outcome, watching: answer.watching };
  await record.finish(kept);
  const watched = await own.follow(answer.watching);
  return watched === undefined ? addNotes(outcome, NOT_WATCHED) : addNotes(watched, ...plan.notes);
}

/** The outcome of a success in the journal. A watch that was cut off goes on; else it is shown as it was then. */
export async function recallOwnCall(
  own: OwnSend,
  record: CallRecord,
  { kept, at }: { readonly kept: KeptOutcome; readonly at: string },
): Promise<ToolOutcome> {
  const { watching, ...outcome } = kept;
  const note = `answered from the journal: this call was already answered at ${at} and was not made again`;
  const watched = watching === undefined ? undefined : await own.follow(watching);
  if (watched !== undefined) return addNotes(await record.finish(watched), `${note}; the flow was watched on`);
  const notes = [`${note}; the flow is shown as it was then`, ...(watching === undefined ? [] : [NOT_WATCHED])];
  return addNotes(outcome, ...notes);
}

function addNotes(outcome: ToolOutcome, ...notes: readonly string[]): ToolOutcome {
  return { ...outcome, notes: [...outcome.notes, ...notes] };
}
