import type { ExecutionLog } from "./executions/execution-log.ts";
import type { BlobStore } from "./files/blob-store.ts";
import type { Flows } from "./flows/flows.ts";
import type { CheckedOptions } from "./service-options.ts";
import { forgetEnded } from "./store/forget-ended.ts";
import { forgetExpired } from "./store/forget-expired.ts";
import type { Store } from "./store/open-store.ts";

const SWEEP_EVERY_MS = 60 * 60 * 1000;

/** Ends what was started; resolves when it does nothing any more. */
type Stop = () => Promise<unknown>;

/** A process that is alone with its store does not beat: what a full disk kept it from writing is tried again here. */
export function keepSettling(executions: ExecutionLog, { heartbeatMs }: CheckedOptions): Stop {
  let settling = Promise.resolve();
  const settle = () => {
    settling = settling.then(() => executions.settle()).catch(() => {});
  };
  const timer = setInterval(settle, heartbeatMs).unref();
  return () => {
    clearInterval(timer);
    return settling;
  };
}

/** Something that is done every hour. */
interface Upkeep {
  /** What is logged when it cannot be done. */
  readonly failure: string;
  /** @param isStopping true when the service stops: what takes long breaks off. */
  run(isStopping: () => boolean): Promise<unknown>;
}

/** What collects what nobody needs any more. */
interface UpkeepParts {
  readonly store: Store;
  readonly blobs: BlobStore;
  readonly flows: Flows;
}

function listUpkeep({ now, retentionDays: days }: CheckedOptions, { store, blobs, flows }: UpkeepParts): Upkeep[] {
  const always: Upkeep[] = [
    { failure: "Old files could not be removed.", run: () => blobs.sweep() },
    { failure: "What has expired could not be removed.", run: () => forgetExpired(store, now()) },
    { failure: "The flow engine could not forget what has ended.", run: () => flows.tidy() },
  ];
  if (days === 0) return always;
  return [
    ...always,
    {
      failure: "Old executions and flows could not be removed.",
      run: (isStopping) => forgetEnded({ store, now, days, isStopping }),
    },
  ];
}

/** Removes at once, and every hour, what has expired, has ended long ago or belongs to nothing. */
export function keepSweeping(o: CheckedOptions, parts: UpkeepParts): Stop {
  const works = listUpkeep(o, parts);
  let isStopping = false;
  let sweeping = Promise.resolve();
  const sweep = async () => {
    for (const { failure, run } of works) {
      if (isStopping) return;
      await run(() => isStopping).catch((cause) => o.log({ level: "warn", message: failure, cause }));
    }
  };
  const queueSweep = () => {
    sweeping = sweeping.then(sweep);
  };
  queueSweep();
  const timer = setInterval(queueSweep, SWEEP_EVERY_MS).unref();
  return () => {
    isStopping = true;
    clearInterval(timer);
    return sweeping;
  };
}
