import type { Store } from "../store/open-store.ts";
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

/** What to look for, and how often. */
export interface SweepOptions {
  /** True when other processes run flows of the same store. */
  readonly isShared: boolean;
  /** Milliseconds between two signs of life where flows are shared; after three without one a process is dead. */
  readonly heartbeatMs: number;
}

const RETRY_MS = 1000;
/** Clocks are set and machines sleep: a timer is never longer than this. */
const LONGEST_MS = 60_000;
const MISSED_BEATS = 3;

/** Creates the sweeper. Where flows are not shared it has a timer only while something is due. */
export function createSweeper(parts: FlowParts, dispatcher: Dispatcher, o: SweepOptions): Sweeper {
  const { store, runner } = parts;
  const others = new Map<string, { beats: number; since: number }>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let turn = 0;
  let sweeping = Promise.resolve();

  async function findDelay(): Promise<number | undefined> {
    if (o.isShared) return o.heartbeatMs;
    const isLeft = await store.selectFrom("flow_outbox").select("key").limit(1).executeTakeFirst();
    if (isLeft !== undefined) return RETRY_MS;
    const next = await store
      .selectFrom("flows")
      .select((e) => e.fn.min("wake_at").as("at"))
      .where("status", "=", "waiting")
      .executeTakeFirst();
    if (!next?.at) return undefined;
    return Math.min(Math.max(Date.parse(next.at) - parts.now(), 0), LONGEST_MS);
  }

  async function arm(): Promise<void> {
    if (isClosed) return;
    const own = ++turn;
    const delay = await findDelay();
    if (isClosed || own !== turn) return;
    clearTimeout(timer);
    if (delay !== undefined) timer = setTimeout(() => void sweep().then(arm, report), delay).unref();
  }

  const report = (cause: unknown) => {
    if (!isClosed) parts.log({ level: "warn", message: "Waiting flows could not be looked after.", cause });
    if (!isClosed) timer = setTimeout(() => void sweep().then(arm, report), RETRY_MS).unref();
  };

  async function look(): Promise<void> {
    if (isClosed) return;
    if (o.isShared) await beat(store, runner);
    await deliverOwn(parts, dispatcher);
    await wakeDue(parts, dispatcher);
    const alive = o.isShared ? await findAlive(store, others, o.heartbeatMs * MISSED_BEATS) : [runner];
    await takeOverFlows(parts, dispatcher, alive);
  }

  const sweep = () => {
    sweeping = sweeping.catch(() => {}).then(look);
    return sweeping;
  };

  return {
    sweep,
    arm: () => void arm().catch(report),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await sweeping.catch(() => {});
    },
  };
}

/** Hands over what this process ordered and its engine has not got. */
async function deliverOwn({ store, runner }: FlowParts, dispatcher: Dispatcher): Promise<void> {
  const rows = await store
    .selectFrom("flow_outbox")
    .innerJoin("flows", "flows.id", "flow_outbox.flow_id")
    .select("flows.id")
    .where("flows.runner", "=", runner)
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

async function beat(store: Store, id: string): Promise<void> {
  await store
    .insertInto("flow_runners")
    .values({ id, beats: 0 })
    .onConflict((c) => c.column("id").doUpdateSet((e) => ({ beats: e("flow_runners.beats", "+", 1) })))
    .execute();
}

/** Processes whose beats go on. Whether they do is judged by the own clock alone, so clocks need not agree. */
async function findAlive(
  store: Store,
  seen: Map<string, { beats: number; since: number }>,
  deadAfterMs: number,
): Promise<string[]> {
  const alive: string[] = [];
  for (const { id, beats } of await store.selectFrom("flow_runners").selectAll().execute()) {
    const before = seen.get(id);
    const since = before?.beats === beats ? before.since : performance.now();
    seen.set(id, { beats, since });
    if (performance.now() - since < deadAfterMs) alive.push(id);
    else await store.deleteFrom("flow_runners").where("id", "=", id).where("beats", "=", beats).execute();
  }
  return alive;
}

/** Continues the flows of processes that are not alive. */
async function takeOverFlows({ store }: FlowParts, dispatcher: Dispatcher, alive: readonly string[]): Promise<void> {
  const left = await store
    .selectFrom("flows")
    .selectAll()
    .where("status", "in", ["pending", "running"])
    .where("runner", "not in", alive)
    .execute();
  for (const flow of left) await dispatcher.takeOver(flow);
}
