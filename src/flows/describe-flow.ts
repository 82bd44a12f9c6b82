import type { FlowView } from "../wire/flow.ts";
import { createFlowOutcome, type FlowOutcome } from "./flow-outcome.ts";
import { findWaitingApproval, showFlow } from "./read-flow.ts";

/** Note on a flow whose watch was cut off. */
export const NOT_WATCHED = "the flow could not be watched to the end; look at it with svc_get_flow";

/** The outcome for a flow as it stands, and what comes next. */
export function describeFlow(tool: string, view: FlowView, notes: readonly string[] = []): FlowOutcome {
  return createFlowOutcome("succeeded", tool, { result: showFlow(view), hint: adviseNext(view), notes });
}

/** What comes next for a flow as it stands; undefined when it is over. */
export function adviseNext(view: FlowView): string | undefined {
  if (findWaitingApproval(view) !== undefined) {
    return "The flow waits for the user: tell them what it is about to do and call svc_approve_flow, which asks them.";
  }
  if (view.flow.status === "failed") return "Tell the user what failed; svc_resume_flow tries again from there.";
  const isOver = view.flow.status === "completed" || view.flow.status === "cancelled";
  return isOver ? undefined : "The flow goes on by itself; look again with svc_get_flow.";
}
