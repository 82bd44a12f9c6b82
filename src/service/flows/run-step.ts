import { ServiceError } from "../service-error.ts";
import { callOnce } from "./call-once.ts";
import { commitChange, type FlowParts, readTime } from "./flow-parts.ts";
import { changeStep, findFlow, type LoadedFlow, toState } from "./flow-rows.ts";
import type { StepDefinition } from "./flow-template.ts";

/** How a step ended; `left`: the flow is not this segment's any more, or the service stops. */
export type StepEnd = "completed" | "failed" | "left";

/** The segment a step runs in. */
export interface SegmentRun {
  readonly parts: FlowParts;
  readonly flowId: string;
  readonly segment: number;
  /** Index of the segment's first step. */
  readonly from: number;
  /** True when the service stops: nothing new is begun. */
  isStopping(): boolean;
}

/** The flow, if it still runs in this segment and process; undefined when it was cancelled or taken over. */
export async function findOwnFlow({ parts, flowId, segment }: SegmentRun): Promise<LoadedFlow | undefined> {
  const found = await findFlow(parts.store, flowId);
  const isOwn =
    found?.flow.status === "running" && found.flow.segment === segment && found.flow.runner === parts.runner;
  return isOwn ? found : undefined;
}

/** Steps that do something, in contrast to those that pause. */
export type ActiveStep = Extract<StepDefinition, { type: "tool_call" | "transform" }>;

/** Runs a step and records what came of it. */
export async function runStep(run: SegmentRun, definition: ActiveStep): Promise<StepEnd> {
  const { parts } = run;
  const loaded = await findOwnFlow(run);
  const step = loaded?.steps.find((one) => one.step_key === definition.key);
  if (loaded === undefined || step === undefined) return "left";
  if (step.status === "completed") return "completed";
  // A step that is running already belongs to a process that died: this continues its attempt.
  const isReplay = step.status === "running";
  const attempts = isReplay ? step.attempts : step.attempts + 1;
  const started_at = isReplay ? step.started_at : readTime(parts);
  const begun = { ...step, status: "running" as const, attempts, started_at, completed_at: null, error: null };
  const isOwn = await commitChange(parts, {
    was: loaded.flow,
    flow: { current_step: step.step_key },
    step: { was: step, to: begun },
  });
  if (!isOwn) return "left";
  const current = { flow: { ...loaded.flow, current_step: step.step_key }, steps: loaded.steps };
  const end = await work(run, definition, { loaded: current, attempt: attempts, step: begun });
  if (end === undefined) return "left";
  const to = { ...end, completed_at: readTime(parts) };
  if (end.status === "completed") {
    await changeStep(parts.store, begun, to);
    return "completed";
  }
  const failed = { was: current.flow, flow: { status: "failed" as const }, step: { was: begun, to } };
  // Also what a cancelled flow did is recorded.
  if (!(await commitChange(parts, failed))) await changeStep(parts.store, begun, to);
  return "failed";
}

interface BegunStep {
  readonly loaded: LoadedFlow;
  readonly step: LoadedFlow["steps"][number];
  readonly attempt: number;
}

type Recorded =
  | { status: "completed"; output: string; error: null }
  | { status: "failed"; output?: string; error: string };

async function work(run: SegmentRun, definition: ActiveStep, begun: BegunStep): Promise<Recorded | undefined> {
  try {
    if (definition.type === "tool_call") return await makeCalls(run, definition, begun);
    return { status: "completed", output: toJson(definition.run(toState(begun.loaded))), error: null };
  } catch (cause) {
    run.parts.log({ level: "error", message: "A step of a flow failed unexpectedly.", cause });
    return { status: "failed", error: describeError(unexpected(), null) };
  }
}

/** The failure nobody foresaw; what it was is in the log. */
export function unexpected(): ServiceError {
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.");
}

/** Makes the calls one after another; stops at the first that fails. What is done is visible in the output meanwhile. */
async function makeCalls(
  run: SegmentRun,
  definition: Extract<ActiveStep, { type: "tool_call" }>,
  { loaded, step, attempt }: BegunStep,
): Promise<Recorded | undefined> {
  const { store } = run.parts;
  const { toolName, connectionId, calls, collect } = definition.plan(toState(loaded));
  await changeStep(store, step, { input: describeCalls(toolName, connectionId, calls) });
  const principal = { accountId: loaded.flow.account_id, apiKeyId: loaded.flow.api_key_id };
  const base = { flowId: run.flowId, stepKey: step.step_key, attempt, toolName, connectionId, principal };
  const isApproved = isApprovedBefore(loaded, step.step_index);
  const results: unknown[] = [];
  for (const call of calls) {
    if (results.length > 0 && (run.isStopping() || (await findOwnFlow(run)) === undefined)) return undefined;
    const result = await callOnce(run.parts, { ...base, isApproved, call });
    if (!result.ok) {
      const output = results.length === 0 ? {} : { output: toJson(collect(results)) };
      return { status: "failed", ...output, error: describeError(result.error, result.executionId) };
    }
    results.push(result.output);
    if (results.length < calls.length) await changeStep(store, step, { output: toJson(collect(results)) });
  }
  return { status: "completed", output: toJson(collect(results)), error: null };
}

function describeCalls(
  toolName: string,
  connectionId: string | undefined,
  calls: readonly { arguments: unknown }[],
): string {
  const [first] = calls;
  const what = calls.length === 1 ? { arguments: first?.arguments } : { items: calls.map((one) => one.arguments) };
  return JSON.stringify({ toolName, connectionId, ...what });
}

/** Whether a human approved what the step at `index` does. */
function isApprovedBefore({ steps }: LoadedFlow, index: number): boolean {
  return steps.some((step) => {
    if (step.step_index >= index || step.step_type !== "approval" || step.status !== "completed") return false;
    const output: unknown = JSON.parse(step.output ?? "null");
    return typeof output === "object" && output !== null && "approved" in output && output.approved === true;
  });
}

/** The error of a step: what the document's envelope says of a failure, and the execution it belongs to. */
export function describeError(error: ServiceError, executionId: string | null): string {
  const { type, hint, details, retryable } = error.options;
  const { code, message } = error;
  return JSON.stringify({ code, type, message, hint, details, retryable: retryable ?? false, executionId });
}

function toJson(value: unknown): string {
  return JSON.stringify(value) ?? "null";
}
