import type { FlowWait } from "../../shared/wire/flow.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { describeWait } from "./describe-wait.ts";
import type { FlowTemplates } from "./flow-templates.ts";

/** Facts about flows that stand in other tables. */
export interface FlowFacts {
  /** Names of the devices, people and triggers that started them, by id. */
  readonly starters: ReadonlyMap<string, string>;
  /** By flow; none for a flow that does not wait. */
  readonly waits: ReadonlyMap<string, FlowWait>;
}

/** Reads the facts about some flows. */
export async function readFacts(
  store: Store,
  templates: FlowTemplates,
  flows: readonly FlowRow[],
  steps?: readonly FlowStepRow[],
): Promise<FlowFacts> {
  const waiting = flows.filter(({ status }) => status === "waiting");
  const rows = steps ?? (await readWaitingSteps(store, waiting));
  const waits = waiting.flatMap((flow) => {
    const step = rows.find(({ flow_id, status }) => flow_id === flow.id && status === "waiting");
    return step === undefined ? [] : [[flow.id, describeWait(step, templates.of(flow))] as const];
  });
  return { starters: await nameStarters(store, flows), waits: new Map(waits) };
}

async function readWaitingSteps(store: Store, flows: readonly FlowRow[]): Promise<FlowStepRow[]> {
  if (flows.length === 0) return [];
  const ids = flows.map(({ id }) => id);
  const steps = store.selectFrom("flow_steps").selectAll().where("flow_id", "in", ids);
  return steps.where("status", "=", "waiting").execute();
}

async function nameStarters(store: Store, flows: readonly FlowRow[]): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(flows.map(({ api_key_id }) => api_key_id))];
  if (ids.length === 0) return new Map();
  const devices = store.selectFrom("api_keys").select(["id", "label as name"]).where("id", "in", ids);
  // Also of people who were removed: what they did keeps their name.
  const people = store.selectFrom("people").select(["id", "name"]).where("id", "in", ids);
  const triggers = store.selectFrom("triggers").select(["id", "name"]).where("id", "in", ids);
  const named = await devices.unionAll(people).unionAll(triggers).execute();
  return new Map(named.map(({ id, name }) => [id, name]));
}
