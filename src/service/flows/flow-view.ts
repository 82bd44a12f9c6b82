import type { Flow, FlowStep, FlowView, FlowTemplate as TemplateView } from "../../wire/flow.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import type { LoadedFlow } from "./flow-rows.ts";
import type { FlowTemplate } from "./flow-template.ts";

/** A flow with its steps as the API shows it. */
export function toFlowView({ flow, steps }: LoadedFlow, templates: readonly FlowTemplate[]): FlowView {
  return { flow: toFlow(flow, templates), steps: steps.map(toStep) };
}

/** "Flow". `completedAt` is set only for flows that finished all their steps. */
export function toFlow(row: FlowRow, templates: readonly FlowTemplate[]): Flow {
  return {
    id: row.id,
    name: templates.find((template) => template.key === row.template_key)?.name ?? row.template_key,
    templateKey: row.template_key,
    status: row.status,
    triggerType: row.trigger_type,
    input: JSON.parse(row.input),
    context: JSON.parse(row.context),
    currentStep: row.current_step,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    completedAt: row.completed_at,
  };
}

/** "Flow template". */
export function toTemplateView({ key, name, description }: FlowTemplate): TemplateView {
  return { key, name, description };
}

function toStep(row: FlowStepRow): FlowStep {
  return {
    stepKey: row.step_key,
    stepIndex: row.step_index,
    stepType: row.step_type,
    status: row.status,
    input: parse(row.input),
    output: parse(row.output),
    error: parse(row.error),
    attemptCount: row.attempts,
    startedAt: row.started_at,
    completedAt: row.completed_at,
  };
}

function parse(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}
