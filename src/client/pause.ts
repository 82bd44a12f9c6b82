import { setTimeout as delay } from "node:timers/promises";
import { SvcError } from "../errors.ts";
import { nameRequest } from "./name-request.ts";

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
