import { setTimeout as delay } from "node:timers/promises";
import { stopOnAbort } from "../../shared/base/concurrency.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import { nameRequest } from "./failure.ts";

/** Clock, chance and waiting, replaced in tests. */
export interface RetryTools {
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: Sleep;
}

const MAX_TRIES = 3;

interface RetriedCall<T> {
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
  const left = startBudget(call.timeoutMs, tools.now);
  for (let tries = 1; ; tries += 1) {
    const { again, end } = await call.attempt(Math.max(1, left())).then(
      (answer) => ({ again: call.askRetry(answer), end: () => answer }),
      (error) => ({ again: isSvcError(error) && call.mayRetry(error) ? error : undefined, end: () => rethrow(error) }),
    );
    const remainingMs = left();
    const wait =
      again && nextDelay({ ...tools, tries, maxTries: MAX_TRIES, retryAfterMs: again.retryAfterMs, remainingMs });
    if (wait === undefined) return end();
    await pause(wait, { label: call.label, signal: call.signal, sleep: tools.sleep });
  }
}

function rethrow(error: unknown): never {
  throw error;
}

/** First backoff ceiling; it doubles with every try. */
const BASE_DELAY_MS = 500;

/** No single backoff is longer than this; a `Retry-After` may be. */
const MAX_BACKOFF_MS = 8_000;

/** Larger values of `Retry-After` are read as this: nobody waits longer, and no arithmetic overflows. */
const MAX_RETRY_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

/** The three date forms a recipient must accept (RFC 9110, 5.6.7). */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/;

/**
 * Milliseconds to wait according to a `Retry-After` header ("HTTP statuses": to be honoured), which is a number of
 * seconds or an HTTP date. A date in the past gives 0; anything else gives undefined.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const date = HTTP_DATE.test(text) ? new Date(text.endsWith("GMT") ? text : `${text} GMT`) : undefined;
  // 31 February is carried over into March: the day, which is the first number of each form, must come back unchanged.
  if (date?.getUTCDate() !== Number(/\d+/.exec(text))) return undefined;
  return Math.min(Math.max(date.getTime() - now, 0), MAX_RETRY_AFTER_MS);
}

/** Backoff with full jitter: a random part of a ceiling that doubles from 0.5 s to 8 s. `tries` counts from 1. */
export function backoffMs(tries: number, random: () => number): number {
  return Math.floor(random() * Math.min(MAX_BACKOFF_MS, BASE_DELAY_MS * 2 ** (tries - 1)));
}

interface RetryState {
  readonly tries: number;
  readonly maxTries: number;
  readonly retryAfterMs: number | undefined;
  readonly remainingMs: number;
  readonly random: () => number;
}

/**
 * Milliseconds before the next try, or undefined to give up: no try is left, or the wait does not fit into the
 * remaining time. `Retry-After` is authoritative: it is never shortened, and it is not jittered.
 */
export function nextDelay(state: RetryState): number | undefined {
  if (state.tries >= state.maxTries) return undefined;
  const delay = state.retryAfterMs ?? backoffMs(state.tries, state.random);
  return delay < state.remainingMs ? delay : undefined;
}

/** Waits; may reject when the signal aborts. */
export type Sleep = (ms: number, signal?: AbortSignal) => Promise<void>;

/** Waits by a timer; rejects with an `AbortError` as soon as the signal fires. */
export const sleepFor: Sleep = (ms, signal) => delay(ms, undefined, { signal });

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
  try {
    signal.throwIfAborted();
    await stopOnAbort(sleep(ms, signal), signal);
  } catch (error) {
    throw signal.aborted ? new SvcError("aborted", nameRequest("Stopped by the caller while waiting.", label)) : error;
  }
}

/** Milliseconds left of a limit that starts to run now. */
export function startBudget(limitMs: number, now: () => number): () => number {
  const elapsed = startStopwatch(now);
  return () => limitMs - elapsed();
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
