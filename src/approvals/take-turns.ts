import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { type LockLimits, withWriteLock } from "./write-lock.ts";

/** Changing a file of the state folder takes milliseconds. */
const LIMITS: LockLimits = { staleAfterMs: 10_000, giveUpAfterMs: 15_000, field: "stateDir" };

/**
 * Makes changes to one file one after the other: those of this object in their order, those of other processes in
 * between, held off by a lock file beside it. So a change always starts from what is there, and undoes nothing. Without
 * a file only the order is kept.
 */
export function takeTurns(file: string | undefined): <T>(change: () => Promise<T>) => Promise<T> {
  const alone = async <T>(change: () => Promise<T>): Promise<T> => {
    if (file === undefined) return change();
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
    return withWriteLock(`${file}.lock`, change, LIMITS);
  };
  let last: Promise<unknown> = Promise.resolve();
  return (change) => {
    const changed = last.then(() => alone(change));
    last = changed.catch(() => undefined);
    return changed;
  };
}
