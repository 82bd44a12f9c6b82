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
