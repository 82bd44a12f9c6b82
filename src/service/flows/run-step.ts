import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import { ServiceError } from "../service-error.ts";
import type { FlowStepRow } from "../store/schema.ts";
import { callOnce } from "./call-once.ts";
import { changeStep, commitChange, type FlowParts, findFlow, type LoadedFlow, readTime } from "./flow-rows.ts";
import type { FlowState, PlannedCalls, StepDefinition } from "./flow-template.ts";
import { findShownLook } from "./shown-previews.ts";

/** The segment a step runs in. */
export interface SegmentRun {
  readonly parts: FlowParts;
  readonly flowId: string;
  readonly segment: number;
  /** True when the service stops: nothing new is begun. */
  isStopping(): boolean;
}

/** The flow, if it still runs in this segment and process; undefined when it was cancelled or taken over. */
export async function findOwnFlow({ parts, flowId, segment }: SegmentRun): Promise<LoadedFlow | undefined> {
  const found = await findFlow(parts.store, flowId);
  const isOwn =
    found?.flow.status === "running" && found.flow.segment === segment && found.flow.runner === parts.node.id;
  return isOwn ? found : undefined;
}

/** A step that is to run, in its flow. */
export interface CurrentStep {
  readonly loaded: LoadedFlow;
  readonly step: FlowStepRow;
  readonly state: FlowState;
}

/** Steps that do something, in contrast to those that pause. */
export type ActiveStep = Extract<StepDefinition, { type: "tool_call" | "transform" }>;

/** Runs the current step of a flow and records its result; false when it failed, or the flow is not this segment's any more. */
export async function runStep(run: SegmentRun, definition: ActiveStep, current: CurrentStep): Promise<boolean> {
  const { loaded, step } = current;
  const { parts } = run;
  const work = prepare(run, definition, current);
  // A step that is running already belongs to a process that died: this continues its attempt.
  const isReplay = step.status === "running";
  const begun: FlowStepRow = {
    ...step,
    status: "running",
    attempts: isReplay ? step.attempts : step.attempts + 1,
    started_at: isReplay ? step.started_at : readTime(parts),
    input: work.input,
    completed_at: null,
    error: null,
  };
  const flow = { ...loaded.flow, current_step: step.step_key };
  const isOwn = await commitChange(parts, {
    was: loaded.flow,
    flow: { current_step: step.step_key },
    step: { was: step, to: begun },
  });
  if (!isOwn) return false;
  const end = await work.run(begun).catch((cause: unknown) => fail(run, cause));
  if (end === undefined) return false;
  const to = { ...end, completed_at: readTime(parts) };
  if (end.status === "completed") {
    await changeStep(parts.store, begun, to);
    return true;
  }
  // The result of a step is recorded even if its flow was cancelled.
  const isFailed = await commitChange(parts, { was: flow, flow: { status: "failed" }, step: { was: begun, to } });
  if (!isFailed) await changeStep(parts.store, begun, to);
  return false;
}

type StepRecord =
  | { status: "completed"; output: string; error: null }
  | { status: "failed"; output?: string; error: string };

interface StepWork {
  readonly input: string | null;
  /** Undefined when the flow is not this segment's any more. */
  run(begun: FlowStepRow): Promise<StepRecord | undefined>;
}

function prepare(run: SegmentRun, definition: ActiveStep, { loaded, state }: CurrentStep): StepWork {
  try {
    if (definition.type === "transform") {
      const output = toJson(definition.run(state));
      return { input: null, run: async () => ({ status: "completed", output, error: null }) };
    }
    const planned = definition.plan(state);
    return { input: describeCalls(planned), run: (begun) => makeCalls(run, planned, { loaded, step: begun }) };
  } catch (cause) {
    return { input: null, run: async () => fail(run, cause) };
  }
}

function fail({ parts }: SegmentRun, cause: unknown): StepRecord {
  return { status: "failed", error: describeError(toFlowError(parts, cause), null) };
}

/** What a template says of a step that cannot run; otherwise 500 `unexpected_error`, and the log has the cause. */
export function toFlowError({ log }: Pick<FlowParts, "log">, cause: unknown): ServiceError {
  if (cause instanceof ServiceError) return cause;
  log({ level: "error", message: "A step of a flow failed unexpectedly.", cause });
  return new ServiceError(500, "unexpected_error", "Something unexpected went wrong in the service.");
}

/** Makes the calls one after another; stops at the first that fails. What is done is visible in the output meanwhile. */
async function makeCalls(
  run: SegmentRun,
  { toolName, connectionId, calls, collect, isUnapproved = false }: PlannedCalls,
  { loaded, step }: { loaded: LoadedFlow; step: FlowStepRow },
): Promise<StepRecord | undefined> {
  const { flowId, parts } = run;
  const principal = { accountId: loaded.flow.account_id, apiKeyId: loaded.flow.api_key_id };
  const base = { flowId, stepKey: step.step_key, attempt: step.attempts, toolName, connectionId, principal };
  const isApproved = !isUnapproved && isApprovedBefore(loaded, step.step_index);
  const results: unknown[] = [];
  for (const call of calls) {
    if (results.length > 0 && (run.isStopping() || (await findOwnFlow(run)) === undefined)) return undefined;
    const shown = isApproved ? findShownLook(loaded, step.step_key, call) : undefined;
    const result = await callOnce(parts, { ...base, isApproved, shown, call });
    if (!result.ok) {
      const output = results.length === 0 ? {} : { output: toJson(collect(results)) };
      return { status: "failed", ...output, error: describeError(result.error, result.executionId) };
    }
    results.push(result.output);
    if (results.length < calls.length) await changeStep(parts.store, step, { output: toJson(collect(results)) });
  }
  return { status: "completed", output: toJson(collect(results)), error: null };
}

function describeCalls({ toolName, connectionId, calls }: PlannedCalls): string {
  const [first] = calls;
  const what = calls.length === 1 ? { arguments: first?.arguments } : { items: calls.map((one) => one.arguments) };
  return JSON.stringify({ toolName, connectionId, ...what });
}

function isApprovedBefore({ steps }: LoadedFlow, index: number): boolean {
  return steps.some((step) => {
    if (step.step_index >= index || step.step_type !== "approval" || step.status !== "completed") return false;
    const output: unknown = parseExactly(step.output ?? "null");
    return isRecord(output) && output.approved === true;
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
