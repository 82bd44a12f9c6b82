import { sha256Hex } from "../../shared/base/hash.ts";
import { createId } from "../../shared/base/ids.ts";
import type { FlowEventType, FlowTriggerType } from "../../shared/wire/flow.ts";
import type { AccessView } from "../access/access-view.ts";
import type { Principal } from "../auth/api-keys.ts";
import { findDefaultConnection } from "../connections/connections.ts";
import { refuseBare } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { type FlowParts, readTime } from "./flow-rows.ts";
import { type FlowTemplate, refuseInput } from "./flow-template.ts";

/** A template with a tool that the caller may not use does not exist for it. */
export function listUsable(
  templates: readonly FlowTemplate[],
  { catalog, isLimited }: AccessView,
): readonly FlowTemplate[] {
  if (!isLimited) return templates;
  return templates.filter(({ tools }) => tools.every((tool) => catalog.find(tool) !== undefined));
}

/** What a new flow is started with; its steps act as `principal`. */
export interface FlowStart {
  readonly principal: Principal;
  readonly templateKey: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly triggerType: FlowTriggerType | FlowEventType;
  /** Starts with the same key, by one principal and with the same input, are one flow. Default: each is another. */
  readonly startKey?: string | undefined;
}

/** Runs in the transaction that writes a flow. */
export type OnFlowStart = (transaction: Store, flowId: string) => Promise<void>;

/**
 * Writes a new flow; its first segment is pending. Connections are chosen now, so that an approval later is one for the
 * account that was meant.
 *
 * @returns its id
 * @throws ServiceError 400, bare: unknown template, missing or invalid input.
 */
export async function startFlow(parts: FlowParts, start: FlowStart, onStart?: OnFlowStart): Promise<string> {
  const { flow, steps } = await prepareFlow(parts, start);
  await parts.store.transaction().execute(async (db) => {
    await onStart?.(db, flow.id);
    const insert = db.insertInto("flows").values(flow);
    const isNew = await insert
      .onConflict((c) => c.doNothing())
      .returning("id")
      .executeTakeFirst();
    if (isNew === undefined) return;
    await db.insertInto("flow_steps").values(steps).execute();
  });
  return flow.id;
}

/** The rows of a new flow, not written yet. @throws ServiceError as {@link startFlow}. */
export async function prepareFlow(
  parts: FlowParts,
  start: FlowStart,
): Promise<{ readonly flow: FlowRow; readonly steps: FlowStepRow[] }> {
  const view = await parts.access.view(start.principal);
  const templates = listUsable(parts.templates.list(), view);
  const template = templates.find((one) => one.key === start.templateKey);
  if (template === undefined) {
    const known = templates.map(({ key }) => key).join(", ");
    const message = `There is no flow template "${start.templateKey}".${known === "" ? "" : ` Templates: ${known}.`}`;
    throw refuseBare(400, "template_not_found", message);
  }
  const input = template.readInput(start.input, parts.now());
  const connections = await chooseConnections(view, template, input);
  const flow = createFlowRow(parts, { ...start, template, connections });
  return { flow, steps: createStepRows(template, flow.id) };
}

/** The connections that were named, or are the default now; none where the human has to choose or connect first. */
async function chooseConnections(
  { connections }: AccessView,
  { connectionFields }: FlowTemplate,
  input: Readonly<Record<string, unknown>>,
): Promise<Record<string, string>> {
  const chosen: Record<string, string> = {};
  for (const [slug, field] of Object.entries(connectionFields)) {
    const own = await connections.list(slug);
    const wanted = input[field];
    const found = wanted === undefined ? findDefaultConnection(own) : own.find(({ id }) => id === wanted);
    if (wanted !== undefined && found === undefined) {
      const ids = own.map(({ id, label }) => `${id} (${label})`).join(", ");
      throw refuseInput(field, `names no connection of ${slug}${ids === "" ? "" : `; there are: ${ids}`}`);
    }
    if (found !== undefined) chosen[slug] = found.id;
  }
  return chosen;
}

function createFlowRow(
  parts: FlowParts,
  o: FlowStart & { template: FlowTemplate; connections: Readonly<Record<string, string>> },
): FlowRow {
  const at = readTime(parts);
  return {
    id: o.startKey === undefined ? createId("flw") : toStartId(o, o.startKey),
    account_id: o.principal.accountId,
    api_key_id: o.principal.apiKeyId,
    template_key: o.template.key,
    status: "pending",
    trigger_type: o.triggerType,
    template: o.template.stored ?? null,
    input: JSON.stringify(o.input),
    context: JSON.stringify({ connections: o.connections }),
    current_step: o.template.steps[0]?.key ?? "",
    segment: 1,
    runner: parts.node.id,
    wake_at: null,
    created_at: at,
    updated_at: at,
    completed_at: null,
  };
}

function toStartId({ principal, templateKey, input }: FlowStart, startKey: string): string {
  const { accountId, apiKeyId } = principal;
  return `flw_${sha256Hex(JSON.stringify([accountId, apiKeyId, startKey, templateKey, input])).slice(0, 20)}`;
}

function createStepRows({ steps }: FlowTemplate, flowId: string): FlowStepRow[] {
  return steps.map(({ key, type }, index) => ({
    flow_id: flowId,
    step_index: index,
    step_key: key,
    step_type: type,
    status: "pending",
    input: null,
    output: null,
    error: null,
    attempts: 0,
    started_at: null,
    completed_at: null,
  }));
}
