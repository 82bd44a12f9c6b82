import type { FlowPreview } from "../../shared/wire/flow.ts";
import {
  type FlowState,
  type FlowTemplate,
  listFollowing,
  type PlannedCall,
  type StepDefinition,
} from "./flow-template.ts";

/** An approval that is going to wait. */
export interface AheadOf {
  readonly template: FlowTemplate;
  /** Its position among the steps. */
  readonly index: number;
  /** State of the flow before it. */
  readonly state: FlowState;
  /** What it shows. */
  readonly shown: Readonly<Record<string, unknown>>;
}

/** A call that is made after a yes to everything. */
export interface CallAhead {
  readonly stepKey: string;
  readonly toolName: string;
  readonly connectionId: string | undefined;
  readonly call: PlannedCall;
}

/** What is known before an approval of the calls up to the next one. */
export interface Ahead {
  readonly calls: readonly CallAhead[];
  /** Steps whose calls nobody can know yet. */
  readonly unknown: readonly FlowPreview[];
}

type CallingStep = Extract<StepDefinition, { type: "tool_call" }>;

/**
 * Plans the calls that an approval would let a flow make, as the flow will plan them. What a step makes of the output of one
 * that has not run yet is not guessed.
 */
export function planAhead({ template, index, state, shown }: AheadOf): Ahead {
  const following = listFollowing(template, index);
  const approval = template.steps[index]?.key ?? "";
  const known = { ...state, outputs: { ...state.outputs, [approval]: { ...shown, approved: true } } };
  const planned = following.flatMap((step) =>
    step.type === "tool_call" && step.isRead !== true ? [planStep(step, known, following)] : [],
  );
  return { calls: planned.flatMap(({ calls }) => calls), unknown: planned.flatMap(({ unknown }) => unknown) };
}

function planStep(step: CallingStep, known: FlowState, following: readonly StepDefinition[]): Ahead {
  let needed: string | undefined;
  const note = (key: string) => ({
    get() {
      needed ??= key;
      return undefined;
    },
  });
  const pending = Object.fromEntries(following.map(({ key }) => [key, note(key)]));
  const state = { ...known, outputs: Object.defineProperties({ ...known.outputs }, pending) };
  const planned = tryPlan(step, state);
  if (needed === undefined && planned !== undefined) return { calls: planned, unknown: [] };
  const missing =
    needed === undefined
      ? { code: "not_known", text: "What it does is not known before the approval." }
      : { code: "depends_on_step", text: `What it does depends on what the step "${needed}" finds.` };
  return { calls: [], unknown: [{ stepKey: step.key, missing }] };
}

/** Undefined where the step cannot be planned; its run says why. */
function tryPlan(step: CallingStep, state: FlowState): CallAhead[] | undefined {
  try {
    if (step.skip?.(state)) return [];
    const { toolName, connectionId, calls, isUnapproved = false } = step.plan(state);
    return isUnapproved ? [] : calls.map((call) => ({ stepKey: step.key, toolName, connectionId, call }));
  } catch {
    return undefined;
  }
}
