import { isAbort, throwIfAborted, withAbort } from "../approvals/abort.ts";
import type { FlowCall } from "./ask-human.ts";
import type { FlowOutcome } from "./flow-outcome.ts";

/** Calls that are under way in this session, by their key in the journal. */
export type RunningCalls = Map<string, Promise<FlowOutcome>>;

/** Runs a call. The same one made again meanwhile has the outcome of the first; one that its own caller gave up has none. */
export async function runOnce(
  running: RunningCalls,
  key: string,
  call: FlowCall,
  run: () => Promise<FlowOutcome>,
): Promise<FlowOutcome> {
  for (let earlier = running.get(key); earlier !== undefined; earlier = running.get(key)) {
    const outcome = await withAbort(join(call, earlier), call.signal);
    if (outcome !== undefined) return outcome;
  }
  const work = run();
  running.set(key, work);
  try {
    return await work;
  } finally {
    running.delete(key);
  }
}

/** A run that a graph has left may still be under way: what it did counts, its questions and its end do not. */
async function join(call: FlowCall, earlier: Promise<FlowOutcome>): Promise<FlowOutcome | undefined> {
  try {
    const outcome = await earlier;
    return call.keepsAnswers === true && outcome.status === "needs_approval" ? undefined : outcome;
  } catch (error) {
    throwIfAborted(call.signal);
    if (call.keepsAnswers === true || isAbort(error)) return undefined;
    throw error;
  }
}
