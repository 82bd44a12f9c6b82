import { beginSegment } from "./begin-segment.ts";
import { describeState, refuseState } from "./describe-conflict.ts";
import { commitChange, type FlowParts, readTime } from "./flow-parts.ts";
import { findCurrentStep, type LoadedFlow } from "./flow-rows.ts";
import { wakeFlow } from "./sweeper.ts";

/*
 * What a human can do to a flow. Each is one transaction that changes the flow only if it still is as it was read, so of
 * two at one time one wins and the other is refused with 409.
 */

const TOO_LATE = "Somebody else was faster: read the flow again.";

/** @throws ServiceError 409, bare: nothing waits for an approval, or another step does. */
export async function approveFlow(
  parts: FlowParts,
  loaded: LoadedFlow,
  { stepKey, by }: { stepKey: string | undefined; by: string },
): Promise<void> {
  const step = findCurrentStep(loaded);
  if (loaded.flow.status !== "waiting" || step?.step_type !== "approval") {
    throw refuseState(`Nothing waits for an approval. ${describeState(loaded.flow, step)}`);
  }
  if (stepKey !== undefined && stepKey !== step.step_key) {
    throw refuseState(`"${stepKey}" does not wait for an approval: "${step.step_key}" does.`);
  }
  const at = readTime(parts);
  const shown = JSON.parse(step.output ?? "{}");
  const output = JSON.stringify({ ...shown, approved: true, approvedAt: at, approvedBy: by });
  const next = loaded.steps[step.step_index + 1];
  const segment = await beginSegment(parts, {
    was: loaded.flow,
    flow: next === undefined ? {} : { current_step: next.step_key },
    step: { was: step, to: { status: "completed", output, completed_at: at } },
  });
  if (segment === undefined) throw refuseState(TOO_LATE);
}

/** @throws ServiceError 409, bare: the flow has not failed, and waits for nothing whose time has come. */
export async function resumeFlow(parts: FlowParts, loaded: LoadedFlow): Promise<void> {
  const { flow } = loaded;
  const step = findCurrentStep(loaded);
  if (flow.status === "waiting" && flow.wake_at !== null && flow.wake_at <= readTime(parts)) {
    if (!(await wakeFlow(parts, loaded))) throw refuseState(TOO_LATE);
    return;
  }
  if (flow.status !== "failed") throw refuseState(`There is nothing to resume. ${describeState(flow, step)}`);
  const segment = await beginSegment(parts, {
    was: flow,
    flow: step === undefined ? {} : { current_step: step.step_key },
    ...(step && { step: { was: step, to: { status: "pending" as const, error: null, completed_at: null } } }),
  });
  if (segment === undefined) throw refuseState(TOO_LATE);
}

/**
 * Ends a flow. A call that is under way cannot be called back: its step says so, and records what comes of it.
 *
 * @throws ServiceError 409, bare: the flow has ended.
 */
export async function cancelFlow(parts: FlowParts, loaded: LoadedFlow): Promise<void> {
  const { flow, steps } = loaded;
  const step = findCurrentStep(loaded);
  if (flow.status === "completed" || flow.status === "cancelled") throw refuseState(describeState(flow, step));
  const isUnderWay = step?.status === "running";
  const error = { code: "cancelled", message: "The flow was cancelled while this ran. It may still take effect." };
  const isDone = await commitChange(parts, {
    was: flow,
    flow: { status: "cancelled", wake_at: null },
    ...(step !== undefined &&
      step.status !== "failed" && {
        step: { was: step, to: { status: "skipped" as const, ...(isUnderWay && { error: JSON.stringify(error) }) } },
      }),
  });
  if (!isDone) throw refuseState(TOO_LATE);
  await parts.store
    .updateTable("flow_steps")
    .set({ status: "skipped" })
    .where("flow_id", "=", flow.id)
    .where("status", "=", "pending")
    .where("step_index", "<=", steps.length)
    .execute();
}
