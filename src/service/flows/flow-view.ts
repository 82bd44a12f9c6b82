import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import type { Flow, FlowStep, FlowView, FlowTemplate as TemplateView } from "../../shared/wire/flow.ts";
import type { Connections } from "../connections/connection.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import type { FlowFacts } from "./flow-facts.ts";
import type { LoadedFlow } from "./flow-rows.ts";
import { type FlowTemplate, listFollowing } from "./flow-template.ts";
import { splitShown } from "./shown-previews.ts";

/** A flow with its steps as the API shows it. */
export function toFlowView(
  { flow, steps }: LoadedFlow,
  template: FlowTemplate | undefined,
  facts: FlowFacts,
): FlowView {
  return { flow: toFlow(flow, template, facts), steps: steps.map((step) => toStep(step, template)) };
}

/** "Flow". `completedAt` is set only for flows that finished all their steps. */
export function toFlow(row: FlowRow, template: FlowTemplate | undefined, { starters, waits }: FlowFacts): Flow {
  const waitingFor = waits.get(row.id);
  const isOfApp = row.trigger_type === "mail" || row.trigger_type === "file";
  return {
    id: row.id,
    name: template?.name ?? row.template_key,
    templateKey: row.template_key,
    status: row.status,
    triggerType: isOfApp ? "schedule" : row.trigger_type,
    input: readMembers(row.input),
    context: readMembers(row.context),
    currentStep: row.current_step,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    completedAt: row.completed_at,
    startedBy: starters.get(row.api_key_id) ?? null,
    ...(isOfApp && { startedOn: row.trigger_type }),
    ...(waitingFor && { waitingFor }),
  };
}

/** "Flow template". */
export function toTemplateView({ key, name, description, inputSchema }: FlowTemplate): TemplateView {
  return { key, name, description, inputSchema };
}

function toStep(row: FlowStepRow, template: FlowTemplate | undefined): FlowStep {
  const isWaiting = row.status === "waiting";
  const items = isWaiting ? findItems(template, row.step_key) : undefined;
  const isApproval = row.step_type === "approval";
  const { output, previews } = isApproval ? splitShown(parse(row.output)) : { output: parse(row.output), previews: [] };
  return {
    stepKey: row.step_key,
    stepIndex: row.step_index,
    stepType: row.step_type,
    status: row.status,
    input: parse(row.input),
    output,
    error: parse(row.error),
    attemptCount: row.attempts,
    startedAt: row.started_at,
    completedAt: row.completed_at,
    ...(items !== undefined && { items }),
    ...(isWaiting && previews.length > 0 && { previews }),
  };
}

/** The member of what an approval shows whose entries may be left out. */
export function findItems(template: FlowTemplate | undefined, stepKey: string): string | undefined {
  const definition = template?.steps.find(({ key }) => key === stepKey);
  return definition?.type === "approval" ? definition.items : undefined;
}

function readMembers(json: string): Record<string, unknown> {
  const value = parseExactly(json);
  return isRecord(value) ? value : {};
}

function parse(json: string | null): unknown {
  return json === null ? null : parseExactly(json);
}

/** Apps with an account of its own choice that the steps after the approval at `index` act on, up to the next one. */
export function listFollowingApps(template: FlowTemplate, index: number): string[] {
  const apps = listFollowing(template, index).flatMap((step) => (step.type === "tool_call" ? [step.app] : []));
  return [...new Set(apps)].filter((app) => Object.hasOwn(template.connectionFields, app));
}

/** Names the accounts that an approval lets a flow use in what the waiting step shows, as they are called now. */
export async function nameAccounts(
  view: FlowView,
  { template, connections }: { template: FlowTemplate | undefined; connections: Connections },
): Promise<FlowView> {
  const waiting = view.steps.find((step) => step.stepType === "approval" && step.status === "waiting");
  const apps = waiting && template ? listFollowingApps(template, waiting.stepIndex) : [];
  if (waiting === undefined || apps.length === 0) return view;
  const chosen = (view.flow.context?.connections ?? {}) as Record<string, string>;
  const known = await connections.list();
  const accounts = apps.map((app) => {
    // Null: none was chosen, which is why an approval is refused then, or it was disconnected.
    const connection = chosen[app] ?? null;
    return { app, account: known.find(({ id }) => id === connection)?.label ?? null, connection };
  });
  const shown = { ...waiting, output: { accounts, ...(isRecord(waiting.output) ? waiting.output : {}) } };
  return { ...view, steps: view.steps.map((step) => (step === waiting ? shown : step)) };
}
