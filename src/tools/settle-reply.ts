import { createUnknownOutcome } from "./answer-from-journal.ts";
import { describeFailure, describeKeyProblem, describeMissingConnection } from "./describe-failure.ts";
import type { Judgement } from "./judge-reply.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "./pipeline.ts";
import { cleanText } from "./safe-text.ts";

/** The outcome of an answer that nothing more is done about. */
export async function settleReply(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  judgement: Judgement,
): Promise<ToolOutcome> {
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
