/** Seconds for the generated requests of all paths together. `SVC_FUZZ_SECONDS=600` looks for longer, and elsewhere each time. */
export const FUZZ_SECONDS = Number(process.env.SVC_FUZZ_SECONDS ?? 50);
const isLongRun = process.env.SVC_FUZZ_SECONDS !== undefined;
/** How much longer than the normal run this one is. */
export const FUZZ_FACTOR = Math.max(1, FUZZ_SECONDS / 50);

const SEED = 20_261_120;

/**
 * Settings of one property: it stops after so many runs or, when a time is given, so long, whatever comes first. The normal run always tries the
 * same requests, so that it cannot fail by chance; `SVC_FUZZ_SEED` repeats a finding of a long run.
 */
export function fuzzOptions({ runs, ms }: { runs: number; ms?: number }) {
  const wanted = process.env.SVC_FUZZ_SEED;
  const seed = wanted === undefined ? (isLongRun ? Date.now() % 2 ** 31 : SEED) : Number(wanted);
  return {
    seed,
    numRuns: Math.ceil(runs * FUZZ_FACTOR),
    ...(ms !== undefined && { interruptAfterTimeLimit: ms * FUZZ_FACTOR, markInterruptAsFailure: false }),
  } as const;
}
