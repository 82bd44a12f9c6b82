import { advanceQueue } from "./approval-queue.ts";
import { freeHeldFiles } from "./held-files.ts";
import { type RunParts, runStored } from "./run-approved.ts";

/** Calls that the owner has approved, each run exactly once. */
export interface ApprovedRuns {
  /** Works on the queue of an account in the background. */
  start(queue: string): void;
  /** Stops looking for approved calls; resolves when nothing is started any more. */
  close(): Promise<void>;
}

/**
 * Runs approved calls: those of one account one after another, those of several side by side. What a process left that died
 * before is found again at `checkEveryMs`.
 *
 * @param alsoLook further work at each of these times
 */
export function createApprovedRuns(parts: RunParts, alsoLook: () => Promise<void> = async () => {}): ApprovedRuns {
  const working = new Map<string, Promise<void>>();
  const asked = new Set<string>();
  let isClosed = false;

  async function work(queue: string): Promise<void> {
    while (!isClosed) {
      const id = await advanceQueue(parts.store, parts.onWaiting, queue);
      if (id === undefined || !(await runStored(parts, id))) return;
      await freeHeldFiles(parts);
    }
  }

  function start(queue: string): void {
    if (isClosed) return;
    asked.add(queue);
    if (working.has(queue)) return;
    const run = async () => {
      try {
        // What was approved after the last look at the queue has asked again.
        while (asked.delete(queue)) await work(queue);
      } catch (cause) {
        parts.log({ level: "error", message: "An approved call could not be started.", cause });
      } finally {
        working.delete(queue);
      }
    };
    working.set(queue, run());
  }

  async function look(): Promise<void> {
    const queues = parts.store.selectFrom("approvals").select("queue").distinct().where("queue", "is not", null);
    for (const { queue } of await queues.execute()) if (queue !== null) start(queue);
    await alsoLook();
    await freeHeldFiles(parts);
  }

  const lookQuietly = () => void look().catch(() => {});
  const timer = setInterval(lookQuietly, parts.checkEveryMs).unref();
  lookQuietly();
  return {
    start,
    async close() {
      isClosed = true;
      clearInterval(timer);
      await Promise.allSettled(working.values());
    },
  };
}
