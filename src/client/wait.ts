import { setTimeout as delay } from "node:timers/promises";
import { SvcError } from "../errors.ts";
import { nameRequest } from "./error-text.ts";

/** Waits; may reject when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits in real time. */
export const sleepFor: Sleep = async (ms, signal) => {
  await delay(ms, undefined, signal === undefined ? {} : { signal });
};

/**
 * Waits, but ends at once when the caller gives up, also with a `sleep` that ignores its signal.
 *
 * @throws SvcError `aborted`
 */
export async function pause(
  ms: number,
  wait: { readonly label: string; readonly signal: AbortSignal | undefined; readonly sleep: Sleep },
): Promise<void> {
  const { signal, label, sleep } = wait;
  if (signal === undefined) return sleep(ms);
  const stopped = () => new SvcError("aborted", nameRequest("Stopped by the caller while waiting.", label));
  if (signal.aborted) throw stopped();
  const { promise: given, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(stopped());
  signal.addEventListener("abort", onAbort, { once: true });
  const slept = sleep(ms, signal).catch((error: unknown) => {
    throw signal.aborted ? stopped() : error;
  });
  try {
    await Promise.race([slept, given]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Starts to measure milliseconds by a clock that may be set while it runs: time that was set back does not count, so that
 * no limit grows by it. Time that was set forward does count.
 */
export function startStopwatch(now: () => number): () => number {
  let last = now();
  let elapsed = 0;
  return () => {
    const time = now();
    elapsed += Math.max(0, time - last);
    last = time;
    return elapsed;
  };
}
