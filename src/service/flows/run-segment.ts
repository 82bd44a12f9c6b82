import { ServiceError } from "../service-error.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { commitChange, type FlowParts, readTime } from "./flow-parts.ts";
import { findCurrentStep, type LoadedFlow, toState } from "./flow-rows.ts";
import type { FlowTemplate, StepDefinition } from "./flow-template.ts";
import { describeError, findOwnFlow, runStep, type SegmentRun, unexpected } from "./run-step.ts";

/** Runs the steps of a flow up to its next approval, timed wait, failure or end. */
export async function runSegment(run: SegmentRun): Promise<void> {
  if (!(await claimSegment(run))) return;
  try {
    while (!run.isStopping()) {
      const loaded = await findOwnFlow(run);
      if (loaded === undefined || !(await runNext(run, loaded))) return;
    }
  } catch (cause) {
    if ((await findOwnFlow(run)) === undefined) return;
    run.parts.log({ level: "error", message: "A flow failed unexpectedly.", cause });
    await failFlow(run, unexpected());
  }
}

/** Marks the flow as running. False when it was cancelled, or another process took it over. */
async function claimSegment({ parts, flowId, segment }: SegmentRun): Promise<boolean> {
  const claimed = await parts.store
    .updateTable("flows")
    .set({ status: "running", updated_at: readTime(parts) })
    .where("id", "=", flowId)
    .where("segment", "=", segment)
    .where("runner", "=", parts.node.id)
    .where("status", "in", ["pending", "running"])
    .executeTakeFirst();
  return claimed.numUpdatedRows > 0n;
}

/** Runs the current step; false when the segment is at its end. */
async function runNext(run: SegmentRun, loaded: LoadedFlow): Promise<boolean> {
  const { parts } = run;
  const step = findCurrentStep(loaded);
  if (step === undefined) {
    await commitChange(parts, { was: loaded.flow, flow: { status: "completed", completed_at: readTime(parts) } });
    return false;
  }
  const definition = findTemplate(parts, loaded)?.steps.find((one) => one.key === step.step_key);
  if (definition === undefined) {
    const message = `This service has no template "${loaded.flow.template_key}" with a step "${step.step_key}".`;
    await failFlow(run, new ServiceError(422, "template_not_found", message));
    return false;
  }
  if (definition.type === "tool_call" || definition.type === "transform") {
    if (definition.skip?.(toState(loaded))) return skip(parts, loaded, step);
    return (await runStep(run, definition)) === "completed";
  }
  if (definition.skip?.(toState(loaded))) return skip(parts, loaded, step);
  return pause(parts, { loaded, step, definition });
}

function skip(parts: FlowParts, { flow }: LoadedFlow, step: FlowStepRow): Promise<boolean> {
  return commitChange(parts, { was: flow, flow: {}, step: { was: step, to: { status: "skipped" } } });
}

function findTemplate({ templates }: FlowParts, { flow }: LoadedFlow): FlowTemplate | undefined {
  return templates.find((template) => template.key === flow.template_key);
}

type PausingStep = Extract<StepDefinition, { type: "approval" | "wait" }>;

interface Pause {
  readonly loaded: LoadedFlow;
  readonly step: FlowStepRow;
  readonly definition: PausingStep;
}

/** Lets the flow wait; true when there is nothing to wait for. */
async function pause(parts: FlowParts, { loaded, step, definition }: Pause): Promise<boolean> {
  const state = toState(loaded);
  const at = readTime(parts);
  const change = (flow: Partial<FlowRow>, to: Partial<FlowStepRow>) =>
    commitChange(parts, {
      was: loaded.flow,
      flow: { current_step: step.step_key, ...flow },
      step: { was: step, to: { attempts: 1, started_at: at, ...to } },
    });
  if (definition.type === "approval") {
    const output = JSON.stringify({ ...definition.show(state), approved: false });
    await change({ status: "waiting" }, { status: "waiting", output });
    return false;
  }
  const until = definition.until(state);
  const wake_at = new Date(until).toISOString();
  const output = JSON.stringify({ waitUntil: wake_at });
  if (until <= parts.now()) return change({}, { status: "completed", output, completed_at: at });
  await change({ status: "waiting", wake_at }, { status: "waiting", output });
  return false;
}

/** Marks the flow as failed at the step it is at, so that a human can resume it. */
async function failFlow(run: SegmentRun, error: ServiceError): Promise<void> {
  const loaded = await findOwnFlow(run);
  const step = loaded && findCurrentStep(loaded);
  if (loaded === undefined || step === undefined) return;
  const to = { status: "failed" as const, error: describeError(error, null), completed_at: readTime(run.parts) };
  const flow = { status: "failed" as const, current_step: step.step_key };
  await commitChange(run.parts, { was: loaded.flow, flow, step: { was: step, to } });
}
