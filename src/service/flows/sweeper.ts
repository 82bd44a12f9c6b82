import type { FlowRow } from "../store/schema.ts";
import { beginSegment } from "./begin-segment.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { type FlowParts, readTime } from "./flow-parts.ts";
import { findCurrentStep, findFlow, type LoadedFlow } from "./flow-rows.ts";

/** Looks after flows that nobody asks about: timed waits, orders the engine did not get, flows of dead processes. */
export interface Sweeper {
  /** Looks once, now. */
  sweep(): Promise<void>;
  /** Sets the timer for the next look; call it after a change. */
  arm(): void;
  /** Looks no more. */
  close(): Promise<void>;
}

const RETRY_MS = 1000;
/** A flow that this process should be running, and is not, is given to the engine again after this time. */
const LOST_MS = 10_000;
/** Clocks are set and machines sleep: a timer is never longer than this. */
const LONGEST_MS = 60_000;

/**
 * Creates the sweeper. Where flows are shared it looks with every sign of life of this process, else it has a timer only
 * while something is due.
 */
export function createSweeper(parts: FlowParts, dispatcher: Dispatcher): Sweeper {
  const { node } = parts;
  const idleSince = new Map<string, number>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let turn = 0;
  let sweeping: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (isClosed) return;
    await deliverOwn(parts, dispatcher);
    await wakeDue(parts, dispatcher);
    for (const flow of await findDead(parts)) await dispatcher.takeOver(flow);
    for (const flow of await findLost(parts, dispatcher, idleSince)) await dispatcher.takeOver(flow);
  }

  const sweep = () => {
    sweeping ??= look().finally(() => {
      sweeping = undefined;
    });
    return sweeping;
  };

  async function arm(): Promise<void> {
    if (isClosed || node.isShared) return;
    const own = ++turn;
    const delay = await findDelay(parts, dispatcher);
    if (isClosed || own !== turn) return;
    clearTimeout(timer);
    if (delay !== undefined) timer = setTimeout(() => void sweep().then(arm, retry), delay).unref();
  }

  const report = (cause: unknown) => {
    if (!isClosed) parts.log({ level: "warn", message: "Waiting flows could not be looked after.", cause });
  };
  const retry = (cause: unknown) => {
    report(cause);
    if (!isClosed) timer = setTimeout(() => void sweep().then(arm, retry), RETRY_MS).unref();
  };
  // A sign of life must not wait for the flows.
  if (node.isShared) node.onBeat(async () => void sweep().catch(report));

  return {
    sweep,
    arm: () => void arm().catch(retry),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping?.catch(() => {});
    },
  };
}

/** Milliseconds until there is something to look after; undefined when nothing is due. */
async function findDelay(parts: FlowParts, dispatcher: Dispatcher): Promise<number | undefined> {
  const { store, now } = parts;
  if ((await findIdle(parts, dispatcher)).length > 0) return RETRY_MS;
  const isLeft = await store.selectFrom("flow_outbox").select("key").limit(1).executeTakeFirst();
  if (isLeft !== undefined) return RETRY_MS;
  const next = await store
    .selectFrom("flows")
    .select((e) => e.fn.min("wake_at").as("at"))
    .where("status", "=", "waiting")
    .executeTakeFirst();
  if (!next?.at) return undefined;
  return Math.min(Math.max(Date.parse(next.at) - now(), 0), LONGEST_MS);
}

/** Hands over what this process ordered and its engine has not got. */
async function deliverOwn({ store, node }: FlowParts, dispatcher: Dispatcher): Promise<void> {
  const rows = await store
    .selectFrom("flow_outbox")
    .innerJoin("flows", "flows.id", "flow_outbox.flow_id")
    .select("flows.id")
    .where("flows.runner", "=", node.id)
    .execute();
  for (const { id } of rows) await dispatcher.deliver(id, 0);
}

async function wakeDue(parts: FlowParts, dispatcher: Dispatcher): Promise<void> {
  const due = await parts.store
    .selectFrom("flows")
    .select("id")
    .where("status", "=", "waiting")
    .where("wake_at", "<=", readTime(parts))
    .execute();
  for (const { id } of due) {
    const loaded = await findFlow(parts.store, id);
    if (loaded !== undefined && (await wakeFlow(parts, loaded))) await dispatcher.deliver(id, 0);
  }
}

/** Ends a timed wait. False when the flow does not wait any more, e.g. because another process woke it. */
export async function wakeFlow(parts: FlowParts, loaded: LoadedFlow): Promise<boolean> {
  const step = findCurrentStep(loaded);
  if (loaded.flow.status !== "waiting" || step?.step_type !== "wait") return false;
  const next = loaded.steps[step.step_index + 1];
  const segment = await beginSegment(parts, {
    was: loaded.flow,
    flow: next === undefined ? {} : { current_step: next.step_key },
    step: { was: step, to: { status: "completed", completed_at: readTime(parts) } },
  });
  return segment !== undefined;
}

/** Flows that processes were running which are not alive any more. */
async function findDead({ store, node }: FlowParts): Promise<FlowRow[]> {
  return await store
    .selectFrom("flows")
    .selectAll()
    .where("status", "in", ["pending", "running"])
    .where("runner", "not in", await node.listAlive())
    .execute();
}

/** Flows that this process should be running, and its engine has not begun yet, or left in the middle. */
async function findIdle({ store, node }: FlowParts, dispatcher: Dispatcher): Promise<FlowRow[]> {
  const own = await store
    .selectFrom("flows")
    .selectAll()
    .where("status", "in", ["pending", "running"])
    .where("runner", "=", node.id)
    .execute();
  return own.filter((flow) => !dispatcher.isActive(flow));
}

/** Those of them that are idle for so long that a store or engine must have failed meanwhile. */
async function findLost(parts: FlowParts, dispatcher: Dispatcher, idleSince: Map<string, number>): Promise<FlowRow[]> {
  const idle = new Map((await findIdle(parts, dispatcher)).map((flow) => [`${flow.id}:${flow.segment}`, flow]));
  for (const key of idleSince.keys()) if (!idle.has(key)) idleSince.delete(key);
  for (const key of idle.keys()) if (!idleSince.has(key)) idleSince.set(key, performance.now());
  const isLost = ([key]: [string, FlowRow]) => performance.now() - (idleSince.get(key) ?? 0) > LOST_MS;
  return [...idle].filter(isLost).map(([, flow]) => flow);
}
