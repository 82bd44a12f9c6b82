import type { Store } from "../store/open-store.ts";
import { type SegmentInput, toSegmentKey } from "./engines/flow-engine.ts";
import { type FlowChange, type FlowParts, readTime } from "./flow-parts.ts";
import { changeFlow, changeStep, findCurrentStep, type LoadedFlow } from "./flow-rows.ts";

/**
 * Makes a change that lets a flow go on: in one transaction the flow gets its next segment, and the outbox the order to
 * run it. Undefined, and nothing is changed, when the flow is not as it was read any more.
 */
export function beginSegment(parts: FlowParts, { was, flow, step }: FlowChange): Promise<number | undefined> {
  const segment = was.segment + 1;
  return parts.store.transaction().execute(async (db) => {
    const next = { status: "running" as const, segment, runner: parts.node.id, wake_at: null, ...flow };
    if (!(await changeFlow(db, was, { ...next, updated_at: readTime(parts) }))) return undefined;
    if (step !== undefined) await changeStep(db, step.was, step.to);
    await db.deleteFrom("flow_outbox").where("flow_id", "=", was.id).execute();
    await putIntoOutbox(db, was.id, segment);
    return segment;
  });
}

/** Orders a segment to be run. */
export async function putIntoOutbox(db: Store, flowId: string, segment: number): Promise<void> {
  const row = { key: toSegmentKey({ flowId, segment }), flow_id: flowId, segment };
  await db.insertInto("flow_outbox").values(row).execute();
}

/** What an engine is told of a segment that has not begun. */
export function toSegmentInput(loaded: LoadedFlow): SegmentInput {
  const { id, segment } = loaded.flow;
  return { flowId: id, segment, from: findCurrentStep(loaded)?.step_index ?? loaded.steps.length };
}
