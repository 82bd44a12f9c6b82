import { createGate } from "../../shared/base/concurrency.ts";
import { ServiceError } from "../service-error.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import {
  changeFlow,
  commitChange,
  type FlowParts,
  findCurrentStep,
  findFlow,
  type LoadedFlow,
  readTime,
  toState,
} from "./flow-rows.ts";
import type { FlowTemplate, StepDefinition } from "./flow-template.ts";
import { lookAhead } from "./look-ahead.ts";
import { type CurrentStep, describeError, findOwnFlow, runStep, type SegmentRun, toFlowError } from "./run-step.ts";
import { showLevels } from "./shown-levels.ts";
import { joinShown } from "./shown-previews.ts";

/** Segments that run in this process at one time. */
const CONCURRENCY = 8;

/** Runs the segments of the flows that belong to this process. */
export type SegmentRunner = ReturnType<typeof createSegmentRunner>;

interface ActiveSegment {
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly released: Promise<void>;
  release(): void;
}

/** Creates the runner; `onEnd` is called when a segment ended here, or could not be run. */
export function createSegmentRunner(parts: FlowParts, { onEnd }: { onEnd: () => void }) {
  const gate = createGate(CONCURRENCY);
  const active = new Map<string, ActiveSegment>();
  let isStopping = false;

  async function work(key: string, flow: FlowRow): Promise<void> {
    const run = { parts, flowId: flow.id, segment: flow.segment, isStopping: () => isStopping };
    try {
      await gate.run(async () => {
        if (!isStopping) await runSegment(run);
      });
    } catch (cause) {
      parts.log({ level: "error", message: "A segment of a flow could not be run.", cause });
    } finally {
      active.delete(key);
      onEnd();
    }
  }

  function begin(key: string, flow: FlowRow): ActiveSegment {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const segment = { ended: work(key, flow), released, release };
    active.set(key, segment);
    return segment;
  }

  /** Runs the current segment of a flow, unless it runs already, and waits up to `waitMs` milliseconds for its end. */
  async function run(flowId: string, waitMs: number): Promise<void> {
    const flow = (await findFlow(parts.store, flowId))?.flow;
    if (flow === undefined || isStopping || flow.runner !== parts.node.id) return;
    if (flow.status !== "pending" && flow.status !== "running") return;
    const key = toKey(flow);
    const { ended, released } = active.get(key) ?? begin(key, flow);
    if (waitMs > 0) await Promise.race([ended, released, sleep(waitMs)]);
  }

  return {
    run,
    /** True while the current segment of the flow runs here, or is queued. */
    isActive: (flow: FlowRow) => active.has(toKey(flow)),
    /** Continues a flow of a dead process; if several processes try, one does. */
    async takeOver(flow: FlowRow): Promise<void> {
      if (isStopping || !(await changeFlow(parts.store, flow, { runner: parts.node.id }))) return;
      await run(flow.id, 0);
    },
    /** Lets nobody wait for the segment any longer. */
    release: (flow: FlowRow) => active.get(toKey(flow))?.release(),
    /** Lets running steps end. The rest of a segment is left for the next start. */
    async close(): Promise<void> {
      isStopping = true;
      await Promise.all([...active.values()].map(({ ended }) => ended));
    },
  };
}

function toKey({ id, segment }: FlowRow): string {
  return `${id}:${segment}`;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}

/** Runs the steps of a flow up to its next approval, timed wait, failure or end. */
async function runSegment(run: SegmentRun): Promise<void> {
  if (!(await claimSegment(run))) return;
  try {
    while (!run.isStopping()) {
      const loaded = await findOwnFlow(run);
      if (loaded === undefined || !(await runNext(run, loaded))) return;
    }
  } catch (cause) {
    if ((await findOwnFlow(run)) === undefined) return;
    await failFlow(run, toFlowError(run.parts, cause));
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
  const template = parts.templates.of(loaded.flow);
  const definition = template?.steps.find(({ key }) => key === step.step_key);
  if (template === undefined || definition === undefined) {
    const message = `This service has no template "${loaded.flow.template_key}" with a step "${step.step_key}".`;
    await failFlow(run, new ServiceError(422, "template_not_found", message));
    return false;
  }
  const state = toState(loaded, template);
  if (definition.skip?.(state)) {
    return commitChange(parts, { was: loaded.flow, flow: {}, step: { was: step, to: { status: "skipped" } } });
  }
  if (definition.type === "approval" || definition.type === "wait")
    return pause(parts, { template, definition }, { loaded, step, state });
  return runStep(run, definition, { loaded, step, state });
}

/** Lets the flow wait; true when there is nothing to wait for. */
async function pause(
  parts: FlowParts,
  o: { readonly template: FlowTemplate; readonly definition: Extract<StepDefinition, { type: "approval" | "wait" }> },
  { loaded, step, state }: CurrentStep,
): Promise<boolean> {
  const { definition, template } = o;
  const at = readTime(parts);
  const change = (flow: Partial<FlowRow>, to: Partial<FlowStepRow>) =>
    commitChange(parts, {
      isWaiting: definition.type === "approval",
      was: loaded.flow,
      flow: { current_step: step.step_key, ...flow },
      step: { was: step, to: { attempts: 1, started_at: at, ...to } },
    });
  if (definition.type === "approval") {
    const principal = { accountId: loaded.flow.account_id, apiKeyId: loaded.flow.api_key_id };
    const shown = await showLevels(parts, definition.show(state), { principal, connections: state.connections });
    const previews = await lookAhead(parts, { template, index: step.step_index, state, shown, principal });
    const output = joinShown({ ...shown, approved: false }, previews);
    await change({ status: "waiting" }, { status: "waiting", output });
    return false;
  }
  const until = definition.until(state, parts.now());
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
