import type { FlowRow } from "../store/schema.ts";
import { beginSegment, toSegmentInput } from "./begin-segment.ts";
import type { EngineOptions, OpenEngine, SegmentInput } from "./engines/flow-engine.ts";
import { toSegmentKey } from "./engines/flow-engine.ts";
import type { FlowParts } from "./flow-parts.ts";
import { changeFlow, findFlow } from "./flow-rows.ts";
import { runSegment } from "./run-segment.ts";

/** Brings segments to the engine, which is opened when the first one needs it. */
export interface Dispatcher {
  /**
   * Hands over the segment of a flow that the outbox holds, and waits up to `waitMs` milliseconds for its end. When the
   * engine cannot take it, the outbox keeps it.
   */
  deliver(flowId: string, waitMs: number): Promise<void>;
  /** True while a segment of the flow runs here, or is being handed over. */
  isActive(flow: FlowRow): boolean;
  /** Continues a flow whose process died, or lost it; of several that try, one does. */
  takeOver(flow: FlowRow): Promise<void>;
  /** Drops a segment that has not begun; nobody waits any longer for one that has. */
  drop(flow: FlowRow): Promise<void>;
  /** Lets the engine, if it is open, forget segments that ended before a time. */
  forget(endedBefore: Date): Promise<void>;
  close(): Promise<void>;
}

/** Creates the dispatcher; `onEnd` is called when a segment came to its end here. */
export function createDispatcher(parts: FlowParts, o: { openEngine: OpenEngine; onEnd: () => void }): Dispatcher {
  const { store } = parts;
  const waiting = createWaiting();
  const running = new Map<string, Promise<void>>();
  let isStopping = false;

  const run: EngineOptions["run"] = async (input, own) => {
    const key = toSegmentKey(input);
    // Taken for dead and given its own segment back, a process first lets go of what it did before.
    const before = running.get(key);
    const work = (before ?? Promise.resolve())
      .then(() => runSegment({ parts, ...input, isStopping: () => isStopping }, own))
      .catch((cause) => parts.log({ level: "error", message: "A segment of a flow could not be run.", cause }));
    running.set(key, work);
    await work;
    if (running.get(key) === work) running.delete(key);
    waiting.end(key);
    o.onEnd();
  };
  const onFault = (message: string, cause: unknown) => parts.log({ level: "error", message, cause });
  const engine = createLazy(() => o.openEngine({ run, runner: parts.node.id, onFault }));
  const hand = async (input: SegmentInput) => {
    const key = toSegmentKey(input);
    await (await engine.get()).start(key, input);
    await store.deleteFrom("flow_outbox").where("key", "=", key).execute();
  };

  /** An order outlives its segment when the process died before it noted that the engine has it. */
  const dropOrders = async ({ id, segment }: FlowRow) => {
    await store.deleteFrom("flow_outbox").where("flow_id", "=", id).where("segment", "<=", segment).execute();
  };

  const deliver = async (flowId: string, waitMs: number) => {
    const loaded = await findFlow(store, flowId);
    if (loaded === undefined || isStopping) return;
    if (!isUnderWay(loaded.flow)) return dropOrders(loaded.flow);
    const input = toSegmentInput(loaded);
    const key = toSegmentKey(input);
    const { ended, leave } = waiting.enter(key);
    try {
      await hand(input);
      if (waitMs > 0) await Promise.race([ended, sleep(waitMs)]);
    } catch (cause) {
      parts.log({ level: "warn", message: "A flow has to wait: its engine does not work.", cause });
      o.onEnd();
    } finally {
      leave();
    }
  };

  return {
    deliver,
    isActive({ id: flowId, segment }) {
      const key = toSegmentKey({ flowId, segment });
      return running.has(key) || waiting.has(key);
    },
    async takeOver(flow) {
      if (isStopping || !(await changeFlow(store, flow, { runner: parts.node.id }))) return;
      const { id: flowId, segment } = flow;
      const key = toSegmentKey({ flowId, segment });
      if (await (await engine.get()).takeOver(key)) {
        await store.deleteFrom("flow_outbox").where("key", "=", key).execute();
        return;
      }
      const was = { ...flow, runner: parts.node.id };
      if ((await beginSegment(parts, { was, flow: {} })) !== undefined) await deliver(flowId, 0);
    },
    async drop({ id: flowId, segment }) {
      await store.deleteFrom("flow_outbox").where("flow_id", "=", flowId).execute();
      const key = toSegmentKey({ flowId, segment });
      await (await engine.find())?.cancel(key);
      waiting.end(key);
    },
    async forget(endedBefore) {
      await (await engine.find())?.forget(endedBefore);
    },
    async close() {
      isStopping = true;
      await (await engine.find())?.close();
    },
  };
}

/** Those who wait for the ends of segments. */
function createWaiting() {
  const waiters = new Set<{ readonly key: string; end(): void }>();
  return {
    enter(key: string) {
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const waiter = { key, end };
      waiters.add(waiter);
      return { ended, leave: () => waiters.delete(waiter) };
    },
    has: (key: string) => [...waiters].some((waiter) => waiter.key === key),
    end(key: string) {
      for (const waiter of waiters) if (waiter.key === key) waiter.end();
    },
  };
}

/** Opens something when it is first needed; after a failure, again when it is needed next. */
function createLazy<T>(open: () => Promise<T>) {
  let opening: Promise<T> | undefined;
  return {
    get() {
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      return opening;
    },
    /** Undefined when it is not open. */
    find: async () => opening?.catch(() => undefined),
  };
}

/** False when a sweep was faster and has brought the segment to its end. */
function isUnderWay({ status }: FlowRow): boolean {
  return status === "pending" || status === "running";
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
