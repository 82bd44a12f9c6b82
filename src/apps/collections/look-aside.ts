import { stopOnAbort } from "../../shared/base/concurrency.ts";

/** A preview has five seconds for everything. */
const LONGEST_MS = 2000;

/**
 * A look that a preview can do without: undefined where it fails, or takes more than `longestMs` (default: two seconds); its
 * signal is aborted then.
 */
export async function lookAside<T>(
  look: (signal: AbortSignal) => Promise<T>,
  signal: AbortSignal,
  longestMs = LONGEST_MS,
): Promise<T | undefined> {
  const end = AbortSignal.any([signal, AbortSignal.timeout(longestMs)]);
  return stopOnAbort(look(end), end).catch(() => {
    signal.throwIfAborted();
    return undefined;
  });
}
