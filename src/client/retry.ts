import { setTimeout as delay } from "node:timers/promises";
import { stopOnAbort } from "../base/concurrency.ts";
import { isSvcError, SvcError } from "../errors.ts";
import { nameRequest } from "./failure.ts";

/** Clock, chance and waiting, replaced in tests. */
export interface RetryTools {
  readonly now: () => number;
  readonly random: () => number;
  readonly sleep: Sleep;
}

/** Most tries of one call, the first included. */
const MAX_TRIES = 3;

/** One call that may be made more than once. */
interface RetriedCall<T> {
  /** Makes one try within the remaining time. */
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
    const ended = await endTry(call, remainingMs);
    const wait =
      ended.again &&
      nextDelay({
        tries,
        maxTries: MAX_TRIES,
        retryAfterMs: ended.again.retryAfterMs,
        remainingMs: call.timeoutMs - elapsed(),
        random: tools.random,
      });
    if (wait !== undefined) await pause(wait, { label: call.label, signal: call.signal, sleep: tools.sleep });
    else if ("answer" in ended) return ended.answer;
    else throw ended.error;
  }
}

/** How one try ended; `again` when another may follow, with the wait the service asks for. */
type EndedTry<T> = ({ readonly answer: T } | { readonly error: unknown }) & {
  readonly again: { readonly retryAfterMs: number | undefined } | undefined;
};

function endTry<T>(call: RetriedCall<T>, remainingMs: number): Promise<EndedTry<T>> {
  return call.attempt(remainingMs).then(
    (answer) => ({ answer, again: call.askRetry(answer) }),
    (error) => ({ error, again: isSvcError(error) && call.mayRetry(error) ? error : undefined }),
  );
}

/** First backoff ceiling; it doubles with every try. */
const BASE_DELAY_MS = 500;

/** No single backoff is longer than this; a `Retry-After` may be. */
const MAX_BACKOFF_MS = 8_000;

/** Larger values of `Retry-After` are read as this: nobody waits longer, and no arithmetic overflows. */
const MAX_RETRY_AFTER_MS = 365 * 24 * 60 * 60 * 1000;

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** The three date forms a recipient must accept (RFC 9110, 5.6.7), with the same named groups. */
const HTTP_DATES = [
  /^[A-Z][a-z]{2}, (?<day>\d{2}) (?<month>[A-Z][a-z]{2}) (?<year>\d{4}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{5,8}, (?<day>\d{2})-(?<month>[A-Z][a-z]{2})-(?<year>\d{2}) (?<time>\d{2}:\d{2}:\d{2}) GMT$/,
  /^[A-Z][a-z]{2} (?<month>[A-Z][a-z]{2}) (?<day>[ \d]\d) (?<time>\d{2}:\d{2}:\d{2}) (?<year>\d{4})$/,
];

/**
 * Milliseconds to wait according to a `Retry-After` header ("HTTP statuses": to be honoured), which is a number of
 * seconds or an HTTP date. A date in the past gives 0; anything else gives undefined.
 */
export function parseRetryAfter(value: string | undefined, now: number): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Math.min(Math.ceil(Number(text) * 1000), MAX_RETRY_AFTER_MS);
  const date = parseHttpDate(text, now);
  return date === undefined ? undefined : Math.min(Math.max(date - now, 0), MAX_RETRY_AFTER_MS);
}

/** Backoff with full jitter: a random part of a ceiling that doubles from 0.5 s to 8 s. `tries` counts from 1. */
export function backoffMs(tries: number, random: () => number): number {
  return Math.floor(random() * Math.min(MAX_BACKOFF_MS, BASE_DELAY_MS * 2 ** (tries - 1)));
}

/** State after a failed try. */
interface RetryState {
  /** Tries made so far, 1 or more. */
  readonly tries: number;
  readonly maxTries: number;
  /** Delay the service asked for, if any. */
  readonly retryAfterMs: number | undefined;
  /** Remaining time of the whole call. */
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

function parseHttpDate(text: string, now: number): number | undefined {
  for (const pattern of HTTP_DATES) {
    const parts = pattern.exec(text)?.groups;
    if (parts === undefined) continue;
    const month = MONTHS.indexOf(parts.month ?? "");
    const day = Number(parts.day);
    const [hours = 0, minutes = 0, seconds = 0] = (parts.time ?? "").split(":").map(Number);
    const year = fullYear(parts.year ?? "", now);
    const date = new Date(Date.UTC(year, month, day, hours, minutes, seconds));
    // Date.UTC carries 31 February or 25 o'clock over into the next day: only a date that comes back unchanged counts.
    const isReal = date.getUTCMonth() === month && date.getUTCDate() === day && date.getUTCHours() === hours;
    return isReal ? date.getTime() : undefined;
  }
  return undefined;
}

/** Two digits mean the year that is not more than 50 years ahead (RFC 9110, 5.6.7). */
function fullYear(digits: string, now: number): number {
  if (digits.length === 4) return Number(digits);
  const thisYear = new Date(now).getUTCFullYear();
  const year = Math.floor(thisYear / 100) * 100 + Number(digits);
  return year > thisYear + 50 ? year - 100 : year;
}

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
  try {
    signal.throwIfAborted();
    await stopOnAbort(sleep(ms, signal), signal);
  } catch (error) {
    throw signal.aborted ? new SvcError("aborted", nameRequest("Stopped by the caller while waiting.", label)) : error;
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
