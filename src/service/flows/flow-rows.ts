import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import type { FlowState } from "./flow-template.ts";

/** A flow with its steps, in order. */
export interface LoadedFlow {
  readonly flow: FlowRow;
  readonly steps: readonly FlowStepRow[];
}

/** A flow and its steps; undefined when there is none, or it belongs to another account. */
export async function findFlow(store: Store, id: string, accountId?: string): Promise<LoadedFlow | undefined> {
  let query = store.selectFrom("flows").selectAll().where("id", "=", id);
  if (accountId !== undefined) query = query.where("account_id", "=", accountId);
  const flow = await query.executeTakeFirst();
  if (flow === undefined) return undefined;
  const steps = await store
    .selectFrom("flow_steps")
    .selectAll()
    .where("flow_id", "=", id)
    .orderBy("step_index")
    .execute();
  return { flow, steps };
}

/** @throws ServiceError 404, bare, for a flow that is not there or belongs to another account. */
export async function readFlow(store: Store, id: string, accountId?: string): Promise<LoadedFlow> {
  const found = await findFlow(store, id, accountId);
  if (found === undefined) throw new ServiceError(404, "flow_not_found", "Flow not found.", { bare: true });
  return found;
}

/** The step a flow is at: the first that is neither completed nor skipped. */
export function findCurrentStep({ steps }: LoadedFlow): FlowStepRow | undefined {
  return steps.find((step) => step.status !== "completed" && step.status !== "skipped");
}

/** What the steps of a template work on. */
export function toState({ flow, steps }: LoadedFlow): FlowState {
  const outputs = steps
    .filter((step) => step.status === "completed")
    .map((step) => [step.step_key, step.output === null ? null : JSON.parse(step.output)]);
  const context = JSON.parse(flow.context) as { connections?: Record<string, string> };
  return {
    flowId: flow.id,
    startedAt: Date.parse(flow.created_at),
    input: JSON.parse(flow.input),
    outputs: Object.fromEntries(outputs),
    connections: context.connections ?? {},
  };
}

/** Names one try of a step, so that a page can say which one its reader decided about. */
export function toAttempt(stepKey: string, attempts: number | undefined): string {
  return `${stepKey}:${attempts ?? 0}`;
}

/** Changes the rows of a step. */
export async function changeStep(db: Store, step: FlowStepRow, change: Partial<FlowStepRow>): Promise<void> {
  await db
    .updateTable("flow_steps")
    .set(change)
    .where("flow_id", "=", step.flow_id)
    .where("step_index", "=", step.step_index)
    .execute();
}

/** Changes a step if its status still is as it was read; false, and nothing is changed, when it is not. */
export async function changeStepOnce(db: Store, was: FlowStepRow, change: Partial<FlowStepRow>): Promise<boolean> {
  const changed = await db
    .updateTable("flow_steps")
    .set(change)
    .where("flow_id", "=", was.flow_id)
    .where("step_index", "=", was.step_index)
    .where("status", "=", was.status)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}

/** Skips the steps of a flow that have not begun. */
export async function skipPending(db: Store, flowId: string): Promise<void> {
  const pending = db.updateTable("flow_steps").where("flow_id", "=", flowId).where("status", "=", "pending");
  await pending.set({ status: "skipped" }).execute();
}

/**
 * Changes a flow if it still is as it was read: of two that decide at one time, one wins.
 *
 * @returns false when somebody else was first; nothing is changed then.
 */
export async function changeFlow(db: Store, was: FlowRow, change: Partial<FlowRow>): Promise<boolean> {
  const changed = await db
    .updateTable("flows")
    .set(change)
    .where("id", "=", was.id)
    .where("status", "=", was.status)
    .where("segment", "=", was.segment)
    .where("runner", "=", was.runner)
    .where("current_step", "=", was.current_step)
    .executeTakeFirst();
  return changed.numUpdatedRows > 0n;
}
