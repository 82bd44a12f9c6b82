import type { FlowTriggerType } from "../../wire/flow.ts";
import type { Principal } from "../auth/api-keys.ts";
import { createId } from "../auth/secrets.ts";
import { findDefaultConnection } from "../catalog/describe-tool.ts";
import { ServiceError } from "../service-error.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { type FlowParts, readTime } from "./flow-parts.ts";
import { type FlowTemplate, refuseInput } from "./flow-template.ts";

/** What is asked for when a flow is started. */
export interface FlowStart {
  readonly principal: Principal;
  readonly templateKey: string;
  readonly input: Readonly<Record<string, unknown>>;
  readonly triggerType: FlowTriggerType;
}

/**
 * Writes a new flow; its first segment is pending. Connections are chosen now, so that an approval later is one for the
 * account that was meant.
 *
 * @returns its id
 * @throws ServiceError 400, bare: unknown template, missing or invalid input.
 */
export async function startFlow(parts: FlowParts, start: FlowStart): Promise<string> {
  const template = parts.templates.find((one) => one.key === start.templateKey);
  if (template === undefined) {
    const known = parts.templates.map(({ key }) => key).join(", ");
    const message = `There is no flow template "${start.templateKey}".${known === "" ? "" : ` Templates: ${known}.`}`;
    throw new ServiceError(400, "template_not_found", message, { bare: true });
  }
  const input = template.readInput(start.input, parts.now());
  const connections = await chooseConnections(parts, template, input);
  const flow = createFlowRow(parts, { ...start, template, connections });
  await parts.store.transaction().execute(async (db) => {
    await db.insertInto("flows").values(flow).execute();
    await db.insertInto("flow_steps").values(createStepRows(template, flow.id)).execute();
  });
  return flow.id;
}

/** The connections that were named, or are the default now; none where the human has to choose or connect first. */
async function chooseConnections(
  { connections }: FlowParts,
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
    id: createId("flw"),
    account_id: o.principal.accountId,
    api_key_id: o.principal.apiKeyId,
    template_key: o.template.key,
    status: "pending",
    trigger_type: o.triggerType,
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
