import type { FlowRow } from "../store/schema.ts";
import { beginSegment, type FlowParts, findCurrentStep, findFlow, type LoadedFlow, readTime } from "./flow-rows.ts";
import type { SegmentRunner } from "./segment-runner.ts";

const RETRY_MS = 1000;
/** Clocks are set and machines sleep: a timer is never longer than this. */
const LONGEST_MS = 60_000;

/**
 * Continues flows without a request: timed waits, segments that the store interrupted, flows of dead processes. Where
 * flows are shared it looks with each heartbeat, else it has a timer only while something is due.
 */
export function createSweeper(parts: FlowParts, runner: SegmentRunner) {
  const { node } = parts;
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let turn = 0;
  let sweeping: Promise<void> | undefined;

  async function look(): Promise<void> {
    if (isClosed) return;
    await wakeDue(parts, runner);
    for (const flow of await findLeft(parts, runner)) {
      await (flow.runner === node.id ? runner.run(flow.id, 0) : runner.takeOver(flow));
    }
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
    const delay = await findDelay(parts, runner);
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
  // A heartbeat must not wait for the flows.
  if (node.isShared) node.onBeat(async () => void sweep().catch(report));

  return {
    sweep,
    /** Sets the timer for the next look; call it after a change. */
    arm: () => void arm().catch(retry),
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await sweeping?.catch(() => {});
    },
  };
}

/** Milliseconds until there is something to look after; undefined when nothing is due. */
async function findDelay(parts: FlowParts, runner: SegmentRunner): Promise<number | undefined> {
  const { store, now } = parts;
  if ((await findLeft(parts, runner)).length > 0) return RETRY_MS;
  const next = await store
    .selectFrom("flows")
    .select((e) => e.fn.min("wake_at").as("at"))
    .where("status", "=", "waiting")
    .executeTakeFirst();
  if (!next?.at) return undefined;
  return Math.min(Math.max(Date.parse(next.at) - now(), 0), LONGEST_MS);
}

async function wakeDue(parts: FlowParts, runner: SegmentRunner): Promise<void> {
  const due = await parts.store
    .selectFrom("flows")
    .select("id")
    .where("status", "=", "waiting")
    .where("wake_at", "<=", readTime(parts))
    .execute();
  for (const { id } of due) {
    const loaded = await findFlow(parts.store, id);
    if (loaded !== undefined && (await wakeFlow(parts, loaded))) await runner.run(id, 0);
  }
}

/** Ends a timed wait. False when the flow does not wait any more, e.g. because another process woke it. */
export async function wakeFlow(parts: FlowParts, loaded: LoadedFlow): Promise<boolean> {
  const step = findCurrentStep(loaded);
  if (loaded.flow.status !== "waiting" || step?.step_type !== "wait") return false;
  const next = loaded.steps[step.step_index + 1];
  return beginSegment(parts, {
    was: loaded.flow,
    flow: next === undefined ? {} : { current_step: next.step_key },
    step: { was: step, to: { status: "completed", completed_at: readTime(parts) } },
  });
}

/** Flows of dead processes, and of this one that it does not run, for example because the store failed in the middle. */
async function findLeft({ store, node }: FlowParts, runner: SegmentRunner): Promise<FlowRow[]> {
  const alive = await node.listAlive();
  const flows = await store
    .selectFrom("flows")
    .selectAll()
    .where("status", "in", ["pending", "running"])
    .where((e) => e.or([e("runner", "=", node.id), e("runner", "not in", alive)]))
    .execute();
  return flows.filter((flow) => !runner.isActive(flow));
}
