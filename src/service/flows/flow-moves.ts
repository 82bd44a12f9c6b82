import { refuseBare, type ServiceError } from "../service-error.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import {
  beginSegment,
  commitChange,
  type FlowParts,
  findCurrentStep,
  type LoadedFlow,
  readTime,
  toAttempt,
} from "./flow-rows.ts";
import { wakeFlow } from "./sweeper.ts";

/*
 * What a human can do to a flow. Each is one transaction that changes the flow only if it still is as it was read, and
 * false when it is not: then it has to be read again to see whether the move still makes sense. So of two who do the
 * same at one time one wins and the other is refused with 409, and nobody is refused because the flow went on meanwhile.
 */

/** Looks at a flow that changes all the time, after which a move is given up. */
const MAX_LOOKS = 20;

/**
 * A move of one flow, as it was read; false when it is not like that any more. `first` is what it was at the first look:
 * a human decided about that.
 */
export type FlowMove = (loaded: LoadedFlow, first: LoadedFlow) => Promise<boolean>;

/**
 * Makes a move, with a new look at the flow whenever it changed meanwhile.
 *
 * @returns the flow as it was before the move
 * @throws what `read` and `move` throw; ServiceError 409, bare, when the flow never keeps still.
 */
export async function makeMove(read: () => Promise<LoadedFlow>, move: FlowMove): Promise<LoadedFlow> {
  const first = await read();
  if (await move(first, first)) return first;
  for (let looks = 1; looks < MAX_LOOKS; looks++) {
    const loaded = await read();
    if (await move(loaded, first)) return loaded;
  }
  throw refuseState("The flow changes all the time: try again.");
}

/**
 * Resumes what stood still at the first look, and is the `attempt` that was seen: a failure that came since may be one
 * of a write whose outcome is unknown, which nobody has decided to make again.
 *
 * @throws ServiceError 409, bare: the flow has not failed, and waits for nothing whose time has come.
 */
export async function resumeFlow(
  parts: FlowParts,
  { loaded, first, attempt }: { loaded: LoadedFlow; first: LoadedFlow; attempt?: string | undefined },
): Promise<boolean> {
  const { flow } = loaded;
  const step = findCurrentStep(loaded);
  const isSeen = attempt === undefined || (step !== undefined && attempt === toAttempt(step.step_key, step.attempts));
  if (!isSeen || flow.segment !== first.flow.segment) {
    throw refuseState(`Somebody else was faster. ${describeState(flow, step)}`);
  }
  if (flow.status === "waiting" && flow.wake_at !== null && flow.wake_at <= readTime(parts)) {
    return wakeFlow(parts, loaded);
  }
  if (flow.status !== "failed") throw refuseState(`There is nothing to resume. ${describeState(flow, step)}`);
  return beginSegment(parts, {
    was: flow,
    flow: step === undefined ? {} : { current_step: step.step_key },
    ...(step && { step: { was: step, to: { status: "pending" as const, error: null, completed_at: null } } }),
  });
}

/**
 * Ends a flow. A call that is under way cannot be called back: its step says so, and records what comes of it.
 *
 * @throws ServiceError 409, bare: the flow has ended.
 */
export async function cancelFlow(parts: FlowParts, loaded: LoadedFlow): Promise<boolean> {
  const { flow } = loaded;
  const step = findCurrentStep(loaded);
  if (flow.status === "completed" || flow.status === "cancelled") throw refuseState(describeState(flow, step));
  const isUnderWay = step?.status === "running";
  const error = { code: "cancelled", message: "The flow was cancelled while this ran. It may still take effect." };
  return commitChange(parts, {
    was: flow,
    flow: { status: "cancelled", wake_at: null },
    ...(step !== undefined &&
      step.status !== "failed" && {
        step: { was: step, to: { status: "skipped" as const, ...(isUnderWay && { error: JSON.stringify(error) }) } },
      }),
    skipsPending: true,
  });
}

/** A 409, bare: the flow is not in a state that allows what was asked. */
export function refuseState(message: string): ServiceError {
  return refuseBare(409, "flow_conflict", message);
}

/** State of a flow and the next step, as a sentence. */
export function describeState({ status }: FlowRow, step: FlowStepRow | undefined): string {
  switch (status) {
    case "pending":
    case "running":
      return "The flow is running.";
    case "waiting":
      return step?.step_type === "wait"
        ? `The flow waits at "${step.step_key}" until ${readUntil(step)}.`
        : `The flow waits for an approval of "${step?.step_key}".`;
    case "failed":
      return `The flow failed at "${step?.step_key}": resume it to try again, or cancel it.`;
    default:
      return `The flow is ${status}.`;
  }
}

function readUntil(step: FlowStepRow): string {
  const output = JSON.parse(step.output ?? "{}") as { waitUntil?: string };
  return output.waitUntil ?? "its time";
}
