import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connections.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { FileAccessParts } from "../executions/file-access.ts";
import type { ServiceLog } from "../service-log.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { changeFlow, changeStepOnce, skipPending } from "./flow-rows.ts";
import type { FlowTemplate } from "./flow-template.ts";
import type { Node } from "./nodes/node.ts";

/** What flows are made of. */
export interface FlowParts {
  readonly store: Store;
  readonly executor: Executor;
  readonly catalog: Catalog;
  readonly connections: Connections;
  readonly files: FileAccessParts;
  /** Templates whose integrations are installed. */
  readonly templates: readonly FlowTemplate[];
  readonly node: FlowNode;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: ServiceLog;
}

/** This process among those that run flows of the store. */
interface FlowNode extends Pick<Node, "id" | "listAlive" | "onBeat"> {
  /** True when there may be others; otherwise whoever was there before is dead for certain. */
  readonly isShared: boolean;
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
}

/** A step that is not as it was read any more. */
class StepChangedError extends Error {
  override readonly name = "StepChangedError";
}

/**
 * Makes a change in one transaction. False, and nothing is changed, when the flow or the step is not as it was read any
 * more.
 */
export async function commitChange(parts: FlowParts, { was, flow, step, skipsPending }: FlowChange): Promise<boolean> {
  const write = async (db: Store) => {
    if (!(await changeFlow(db, was, { updated_at: readTime(parts), ...flow }))) return false;
    if (step !== undefined && !(await changeStepOnce(db, step.was, step.to))) throw new StepChangedError();
    if (skipsPending) await skipPending(db, was.id);
    return true;
  };
  try {
    return await parts.store.transaction().execute(write);
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
