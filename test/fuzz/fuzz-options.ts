/** Seconds for the generated requests of all paths together. `SVC_FUZZ_SECONDS=600` looks for longer, and elsewhere each time. */
export const FUZZ_SECONDS = Number(process.env.SVC_FUZZ_SECONDS ?? 50);
const isLongRun = process.env.SVC_FUZZ_SECONDS !== undefined;
/** How much longer than the normal run this one is. */
export const FUZZ_FACTOR = Math.max(1, FUZZ_SECONDS / 50);

const SEED = 20_261_120;

/**
 * Settings of one property, of so many runs. The normal run always tries the same requests, so that it cannot fail by
 * chance; `SVC_FUZZ_SEED` repeats a finding of a long run.
 */
export function fuzzOptions({ runs }: { runs: number }) {
  const wanted = process.env.SVC_FUZZ_SEED;
  const seed = wanted === undefined ? (isLongRun ? Date.now() % 2 ** 31 : SEED) : Number(wanted);
  return { seed, numRuns: Math.ceil(runs * FUZZ_FACTOR) } as const;
}

/**
 * A predicate that has nothing more to say once `ms` of a normal run are over. fast-check's own time limit would leave a
 * run going on behind a test that has ended.
 */
export function whileTimeLasts<Value>(
  ms: number,
  predicate: (value: Value) => Promise<void>,
): (value: Value) => Promise<void> {
  const until = performance.now() + ms * FUZZ_FACTOR;
  let hasRun = false;
  return async (value) => {
    if (hasRun && performance.now() > until) return;
    hasRun = true;
    await predicate(value);
  };
}
