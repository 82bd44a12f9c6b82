import { isSvcError, type SvcError } from "../errors.ts";
import { pause, type Sleep } from "./pause.ts";
import { nextDelay } from "./retry-timing.ts";
import { startStopwatch } from "./stopwatch.ts";

/** Clock, chance and waiting, replaced in tests. */
export interface RetryTools {
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: Sleep;
}

/** Most tries of one call, the first included. */
const MAX_TRIES = 3;

/** One call that may be made more than once. */
export interface RetriedCall<T> {
  /** Makes one try with what is left of the time. */
  attempt(remainingMs: number): Promise<T>;
  /** For an answer that asks for another try: how long the service wants us to wait, if it says so. */
  askRetry(answer: T): { readonly retryAfterMs: number | undefined } | undefined;
  /** True when a thrown failure may be followed by another try. */
  mayRetry(error: SvcError): boolean;
  readonly label: string;
  /** For the whole call: all tries and the waits between them. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes up to three tries within `timeoutMs`, with full jitter or the wait the service asks for. When the next wait
 * does not fit, the last answer or error is given to the caller as it is, with its `retryAfterMs`.
 */
export async function withRetries<T>(call: RetriedCall<T>, tools: RetryTools): Promise<T> {
  const elapsed = startStopwatch(tools.now);
  for (let tries = 1; ; tries += 1) {
    const remainingMs = Math.max(1, call.timeoutMs - elapsed());
    const outcome = await settle(call, remainingMs);
    if (outcome.retryAfterMs === "never") return outcome.finish();
    const wait = nextDelay({
      tries,
      maxTries: MAX_TRIES,
      retryAfterMs: outcome.retryAfterMs,
      remainingMs: call.timeoutMs - elapsed(),
      random: tools.random,
    });
    if (wait === undefined) return outcome.finish();
    await pause(wait, { label: call.label, signal: call.signal, sleep: tools.sleep });
  }
}

interface Outcome<T> {
  readonly retryAfterMs: number | undefined | "never";
  /** Returns the answer or throws the failure. */
  readonly finish: () => T;
}

async function settle<T>(call: RetriedCall<T>, remainingMs: number): Promise<Outcome<T>> {
  try {
    const answer = await call.attempt(remainingMs);
    const asked = call.askRetry(answer);
    return { retryAfterMs: asked === undefined ? "never" : asked.retryAfterMs, finish: () => answer };
  } catch (error) {
    const isRetried = isSvcError(error) && call.mayRetry(error);
    const fail = () => {
      throw error;
    };
    return { retryAfterMs: isRetried ? error.retryAfterMs : "never", finish: fail };
  }
}
