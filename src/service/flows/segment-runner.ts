import { createGate } from "../../base/concurrency.ts";
import type { FlowRow } from "../store/schema.ts";
import type { FlowParts } from "./flow-parts.ts";
import { changeFlow, findFlow } from "./flow-rows.ts";
import { runSegment } from "./run-segment.ts";

/** Segments that run in this process at one time. */
const CONCURRENCY = 8;

/** Runs the segments of the flows that belong to this process. */
export interface SegmentRunner {
  /** Runs the current segment of a flow, unless it runs already, and waits up to `waitMs` milliseconds for its end. */
  run(flowId: string, waitMs: number): Promise<void>;
  /** True while the current segment of the flow runs here, or is queued. */
  isActive(flow: FlowRow): boolean;
  /** Continues a flow of a dead process; if several processes try, one does. */
  takeOver(flow: FlowRow): Promise<void>;
  /** Lets nobody wait for the segment any longer. */
  release(flow: FlowRow): void;
  /** Lets running steps end. The rest of a segment is left for the next start. */
  close(): Promise<void>;
}

interface ActiveSegment {
  /** Never rejects. */
  readonly ended: Promise<void>;
  readonly released: Promise<void>;
  release(): void;
}

/** Creates the runner; `onEnd` is called when a segment ended here, or could not be run. */
export function createSegmentRunner(parts: FlowParts, { onEnd }: { onEnd: () => void }): SegmentRunner {
  const gate = createGate(CONCURRENCY);
  const active = new Map<string, ActiveSegment>();
  let isStopping = false;

  async function work(key: string, flow: FlowRow): Promise<void> {
    const leave = await gate.enter();
    try {
      const run = { parts, flowId: flow.id, segment: flow.segment, isStopping: () => isStopping };
      if (!isStopping) await runSegment(run);
    } catch (cause) {
      parts.log({ level: "error", message: "A segment of a flow could not be run.", cause });
    } finally {
      leave();
      active.delete(key);
      onEnd();
    }
  }

  function begin(key: string, flow: FlowRow): ActiveSegment {
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const segment = { ended: work(key, flow), released, release };
    active.set(key, segment);
    return segment;
  }

  async function run(flowId: string, waitMs: number): Promise<void> {
    const flow = (await findFlow(parts.store, flowId))?.flow;
    if (flow === undefined || isStopping || flow.runner !== parts.node.id || !isUnderWay(flow)) return;
    const key = toKey(flow);
    const { ended, released } = active.get(key) ?? begin(key, flow);
    if (waitMs > 0) await Promise.race([ended, released, sleep(waitMs)]);
  }

  return {
    run,
    isActive: (flow) => active.has(toKey(flow)),
    async takeOver(flow) {
      if (isStopping || !(await changeFlow(parts.store, flow, { runner: parts.node.id }))) return;
      await run(flow.id, 0);
    },
    release: (flow) => active.get(toKey(flow))?.release(),
    async close() {
      isStopping = true;
      await Promise.all([...active.values()].map(({ ended }) => ended));
    },
  };
}

function toKey({ id, segment }: FlowRow): string {
  return `${id}:${segment}`;
}

function isUnderWay({ status }: FlowRow): boolean {
  return status === "pending" || status === "running";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
