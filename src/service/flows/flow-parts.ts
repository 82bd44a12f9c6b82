import type { Catalog } from "../catalog/catalog.ts";
import type { Connections } from "../connections/connections.ts";
import type { Executor } from "../executions/execute-tool.ts";
import type { FileAccessParts } from "../executions/file-access.ts";
import type { Node } from "../nodes/node.ts";
import type { ServiceLog } from "../service-log.ts";
import type { Store } from "../store/open-store.ts";
import type { FlowRow, FlowStepRow } from "../store/schema.ts";
import { changeFlow, changeStep } from "./flow-rows.ts";
import type { FlowTemplate } from "./flow-template.ts";

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

/** One change of a flow and of one of its steps. */
export interface FlowChange {
  readonly was: FlowRow;
  readonly flow: Partial<FlowRow>;
  readonly step?: { readonly was: FlowStepRow; readonly to: Partial<FlowStepRow> };
}

/** Makes a change in one transaction. False, and nothing is changed, when the flow is not as it was read any more. */
export function commitChange(parts: FlowParts, change: FlowChange): Promise<boolean> {
  return parts.store.transaction().execute(async (db) => {
    if (!(await changeFlow(db, change.was, { updated_at: readTime(parts), ...change.flow }))) return false;
    if (change.step !== undefined) await changeStep(db, change.step.was, change.step.to);
    return true;
  });
}
