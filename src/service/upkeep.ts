import { forgetKeptWrites } from "./executions/undo/kept-writes.ts";
import type { BlobStore } from "./files/blob-store.ts";
import type { Watch } from "./health/health.ts";
import { logMachineChanges } from "./http/audit.ts";
import type { Core } from "./open-core.ts";
import type { CheckedOptions } from "./service-options.ts";
import type { Store } from "./store/open-store.ts";
import { advanceUpkeep, forgetEnded, forgetExpired } from "./store/retention.ts";

const MEGABYTE = 1024 ** 2;
const SWEEP_EVERY_MS = 60 * 60 * 1000;

/** Ends what was started; resolves when it does nothing any more. */
type Stop = () => Promise<unknown>;

/** A process that is alone with its store does not beat: what a full disk kept it from writing is tried again here. */
export function keepSettling(
  { executionLog, undo }: Pick<Core, "executionLog" | "undo">,
  { heartbeatMs }: CheckedOptions,
): Stop {
  let settling = Promise.resolve();
  const settle = () => {
    settling = settling.then(() => executionLog.settle()).catch(() => {});
    undo.settleSoon();
  };
  const timer = setInterval(settle, heartbeatMs).unref();
  return () => {
    clearInterval(timer);
    return settling;
  };
}

/** Logs what commands on the machine change, from now on and soon after each. */
export function openMachineLog({ log, heartbeatMs }: CheckedOptions, store: Store): Stop {
  let telling = Promise.resolve();
  const tell = () => {
    // A store that cannot be read keeps them; the watch says so.
    telling = telling.then(() => logMachineChanges(store, log)).catch(() => {});
  };
  tell();
  const timer = setInterval(tell, heartbeatMs).unref();
  return () => {
    clearInterval(timer);
    return telling;
  };
}

interface Upkeep {
  /** Log message when it fails. */
  readonly failure: string;
  /**
   * @param time by which age is judged; see `advanceUpkeep`.
   * @param isStopping true when the service stops: what takes long breaks off.
   */
  run(time: number, isStopping: () => boolean): Promise<unknown>;
}

interface UpkeepParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly watch: Pick<Watch, "isClockBelieved">;
}

function listUpkeep({ retentionDays: days, undoMegabytes }: CheckedOptions, { store, blobs }: UpkeepParts): Upkeep[] {
  const always: Upkeep[] = [
    { failure: "Old files could not be removed.", run: (time) => blobs.sweep(time) },
    { failure: "What has expired could not be removed.", run: (time) => forgetExpired(store, time) },
    {
      failure: "What can be undone no more could not be removed.",
      run: (time) => forgetKeptWrites(store, time, undoMegabytes * MEGABYTE),
    },
  ];
  if (days === 0) return always;
  return [
    ...always,
    {
      failure: "Old executions and flows could not be removed.",
      run: (time, isStopping) => forgetEnded({ store, time, days, isStopping }),
    },
  ];
}

/**
 * Removes, from `begin` on and every hour, what has expired, has ended long ago or belongs to nothing; nothing while the
 * clock is in doubt.
 */
export function openSweeping(o: CheckedOptions, parts: UpkeepParts): { begin(): void; stop: Stop } {
  const works = listUpkeep(o, parts);
  let isStopping = false;
  let sweeping = Promise.resolve();
  const warn = (message: string) => (cause: unknown) => {
    o.log({ level: "warn", message, cause });
    return undefined;
  };
  const sweep = async () => {
    if (isStopping || !parts.watch.isClockBelieved()) return;
    const time = await advanceUpkeep(parts.store, o.now()).catch(warn("Nothing old could be removed."));
    if (time === undefined) return;
    for (const { failure, run } of works) {
      if (isStopping) return;
      await run(time, () => isStopping).catch(warn(failure));
    }
  };
  const queueSweep = () => {
    sweeping = sweeping.then(sweep);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    begin(): void {
      queueSweep();
      timer = setInterval(queueSweep, SWEEP_EVERY_MS).unref();
    },
    stop() {
      isStopping = true;
      clearInterval(timer);
      return sweeping;
    },
  };
}
