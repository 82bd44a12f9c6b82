import { throwIfAborted, toFailure } from "../ask/abort.ts";
import { cleanText, createOutcome, type ToolOutcome } from "../outcome.ts";
import { announceSending } from "./announce.ts";
import { createUnknownOutcome } from "./outcome.ts";
import {
  type CallContext,
  type CallPlan,
  fingerprintPlan,
  type OwnAnswer,
  type OwnSend,
  proceed,
  type Step,
  stop,
} from "./plan.ts";

/** An outcome in the journal, with the id of the flow while it is watched. */
interface KeptOutcome extends ToolOutcome {
  readonly watching?: string;
}

/** Note for a flow whose watch was interrupted. */
export const NOT_WATCHED = "the flow could not be watched to the end; look at it with svc_get_flow";

/** Steps 2 to 5 of an own tool: plans the call from its current state. */
export async function planOwnCall(
  context: Pick<CallContext, "own" | "signal">,
  plan: CallPlan,
): Promise<Step<CallPlan>> {
  const { entry } = plan;
  const { own } = context;
  if (own === undefined) return proceed(plan);
  try {
    const planned = await own.plan();
    throwIfAborted(context.signal);
    if (!planned.ok) return planned;
    const { title, description, reason, account, previews = [], arguments: args } = planned.value;
    const connections = account === undefined ? [] : [account];
    const shown = { ...entry, title, description, policyReason: reason, connections };
    const asked = { entry: shown, arguments: args, previews, connectionId: account?.id, mustAsk: true, notes: [] };
    return proceed({ ...plan, ...asked });
  } catch (error) {
    return stop(createOutcome("failed", entry.name, own.describeError(toFailure(error, context.signal))));
  }
}

/** The plan if it still matches the approval, else the outcome. */
export async function planAgain(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  const now = await planOwnCall(context, plan);
  if (!now.ok) return now;
  if (context.own === undefined || fingerprintPlan(context, now.value) === plan.approved) return proceed(plan);
  const told = {
    code: "flow_changed",
    message: "The flow is not as it was when it was approved. Nothing was run.",
    hint: "Make the call again, so that the user sees the flow as it is now.",
    retryable: true,
  };
  return stop(createOutcome("failed", plan.entry.name, told));
}

/**
 * Sends and then watches. The answer is written to the journal first, because this process may end during the watch.
 */
export async function sendOwnCall(context: CallContext, plan: CallPlan, own: OwnSend): Promise<ToolOutcome> {
  const { entry, notes } = plan;
  await announceSending(context, { toolName: entry.name, confirmed: true });
  let answer: OwnAnswer;
  try {
    answer = await own.send();
  } catch (error) {
    const failure = toFailure(error, context.signal);
    if (own.mayHaveActed(failure)) return createUnknownOutcome(context, entry, cleanText(failure.message, 300));
    return createOutcome("failed", entry.name, own.describeError(failure), notes);
  }
  const outcome = addNotes(answer.outcome, ...notes);
  const kept: KeptOutcome = { ...outcome, watching: answer.watching };
  await context.record.finish(kept);
  const watched = await own.follow(answer.watching);
  return watched === undefined ? addNotes(outcome, NOT_WATCHED) : addNotes(watched, ...notes);
}

/** The recorded outcome of a success. An interrupted watch continues; if it cannot, the recorded state is returned. */
export async function recallOwnCall(
  { record }: Pick<CallContext, "record">,
  own: OwnSend,
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
