import { parseExactly } from "../../shared/base/exact-number.ts";
import type { Access } from "../access/access-view.ts";
import type { OnWaiting } from "../approvals/hold-call.ts";
import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connection.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { FileAccessParts } from "../executions/resolve-files.ts";
import { refuseBare, type ServiceError, type ServiceLog } from "../service-error.ts";
import type { Node } from "../store/node.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import type { FlowState, FlowTemplate } from "./flow-template.ts";
import type { FlowTemplates } from "./flow-templates.ts";

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
  if (found === undefined) throw flowNotFound();
  return found;
}

/** The refusal of a flow that is not there for the caller: 404, bare. */
export function flowNotFound(): ServiceError {
  return refuseBare(404, "flow_not_found", "Flow not found.");
}

/** The step a flow is at: the first that is neither completed nor skipped. */
export function findCurrentStep({ steps }: LoadedFlow): FlowStepRow | undefined {
  return steps.find((step) => step.status !== "completed" && step.status !== "skipped");
}

/** Ids of the connections that were chosen when a flow started, by integration. */
export function readConnections({ context }: FlowRow): FlowState["connections"] {
  return (parseExactly(context) as Partial<Pick<FlowState, "connections">>).connections ?? {};
}

/** State of a flow for the steps of its template. */
export function toState({ flow, steps }: LoadedFlow, template: FlowTemplate): FlowState {
  const outputs = steps
    .filter((step) => step.status === "completed")
    .map((step) => [step.step_key, step.output === null ? null : parseExactly(step.output)]);
  return {
    flowId: flow.id,
    startedAt: Date.parse(flow.created_at),
    input: template.parseInput(parseExactly(flow.input)),
    outputs: Object.fromEntries(outputs),
    connections: readConnections(flow),
  };
}

/** Names one attempt of a step, so that a form can say which attempt the human saw. */
export function toAttempt(stepKey: string, attempts: number | undefined): string {
  return `${stepKey}:${attempts ?? 0}`;
}

const updateStep = (db: Store, { flow_id, step_index }: FlowStepRow) =>
  db.updateTable("flow_steps").where("flow_id", "=", flow_id).where("step_index", "=", step_index);

/** Changes the row of a step. */
export async function changeStep(db: Store, step: FlowStepRow, change: Partial<FlowStepRow>): Promise<void> {
  await updateStep(db, step).set(change).execute();
}

/** Changes a step if its status still is as it was read; false, and nothing is changed, when it is not. */
async function changeStepOnce(db: Store, was: FlowStepRow, change: Partial<FlowStepRow>): Promise<boolean> {
  const changed = await updateStep(db, was).set(change).where("status", "=", was.status).executeTakeFirst();
  return changed.numUpdatedRows > 0n;
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

/** Parts that flows need. */
export interface FlowParts {
  readonly store: Store;
  readonly executor: Executor;
  /** Tools and accounts of a flow's key; `catalog` and `connections` have all. */
  readonly access: Access;
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly files: FileAccessParts;
  readonly templates: FlowTemplates;
  readonly node: Pick<Node, "id" | "isShared" | "listAlive" | "onBeat">;
  readonly onWaiting: OnWaiting;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: ServiceLog;
}

/** The time as rows keep it. */
export function readTime({ now }: Pick<FlowParts, "now">): string {
  return new Date(now()).toISOString();
}

/** One change of a flow and of its steps. */
export interface FlowChange {
  readonly was: FlowRow;
  readonly flow: Partial<FlowRow>;
  readonly step?: { readonly was: FlowStepRow; readonly to: Partial<FlowStepRow> };
  /** True when the steps that have not begun never will. */
  readonly skipsPending?: boolean;
  /** True when the flow waits for an approval from now on. */
  readonly isWaiting?: boolean;
}

class StepChangedError extends Error {
  override readonly name = "StepChangedError";
}

/**
 * Makes a change in one transaction. False, and nothing is changed, when the flow or the step is not as it was read any
 * more.
 */
export async function commitChange(
  parts: FlowParts,
  { was, flow, step, skipsPending, isWaiting }: FlowChange,
): Promise<boolean> {
  const write = async (db: Store) => {
    if (!(await changeFlow(db, was, { updated_at: readTime(parts), ...flow }))) return false;
    if (step !== undefined && !(await changeStepOnce(db, step.was, step.to))) throw new StepChangedError();
    if (skipsPending) {
      const pending = db.updateTable("flow_steps").where("flow_id", "=", was.id).where("status", "=", "pending");
      await pending.set({ status: "skipped" }).execute();
    }
    if (isWaiting) await parts.onWaiting.add(db, was.id);
    return true;
  };
  try {
    const isDone = await parts.store.transaction().execute(write);
    if (isDone && isWaiting) parts.onWaiting.wake();
    return isDone;
  } catch (error) {
    if (error instanceof StepChangedError) return false;
    throw error;
  }
}

/** Makes a change that lets a flow go on with its next segment, in this process. False as in {@link commitChange}. */
export function beginSegment(parts: FlowParts, { was, flow, step }: FlowChange): Promise<boolean> {
  const next = { status: "running" as const, segment: was.segment + 1, runner: parts.node.id, wake_at: null, ...flow };
  return commitChange(parts, { was, flow: next, ...(step && { step }) });
}
