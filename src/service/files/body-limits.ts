import { refuseBare, ServiceError } from "../service-error.ts";

/** Slowest body that is still read: bytes per second, averaged over a window of waiting time. */
export interface BodyRate {
  readonly minBytesPerSecond: number;
  readonly windowMs: number;
  /** Longest waiting time for a whole body, whatever its size. Default: none. */
  readonly totalMs?: number;
}

/** 1 KiB/s over 20 s: a large body holds one of four places, and the HTTP server itself waits ten minutes. */
export const DEFAULT_BODY_RATE: BodyRate = { minBytesPerSecond: 1024, windowMs: 20_000 };

const LATE = Symbol("late");

function refuse(): ServiceError {
  const message = "The request body arrived too slowly; send it again over a faster connection.";
  return new ServiceError(400, "body_too_slow", message, { bare: true, retryable: true });
}

function nextWithin<T>(next: Promise<T>, ms: number, signal: AbortSignal | undefined): Promise<T | typeof LATE> {
  const late = Promise.withResolvers<typeof LATE>();
  const timer = setTimeout(() => late.resolve(LATE), ms);
  const stop = () => late.reject(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  return Promise.race([next, late.promise]).finally(() => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", stop);
  });
}

/**
 * Passes pieces through and throws ServiceError 400 (bare) when the sender is slower than `rate`. Only time spent waiting
 * for the sender counts, not time the reader takes. The source stays open.
 */
export async function* guardBodyRate(
  bytes: AsyncIterable<Uint8Array>,
  rate: BodyRate,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const source = bytes[Symbol.asyncIterator]();
  let waitedMs = 0;
  let received = 0;
  let leftMs = rate.totalMs ?? Number.POSITIVE_INFINITY;
  for (;;) {
    signal?.throwIfAborted();
    const since = performance.now();
    const next = source.next();
    // A late piece that fails after we gave up must not become an unhandled rejection.
    next.catch(() => undefined);
    const result = await nextWithin(next, Math.max(Math.min(rate.windowMs - waitedMs, leftMs), 1), signal);
    if (result === LATE) throw refuse();
    if (result.done) return;
    const waited = performance.now() - since;
    waitedMs += waited;
    leftMs -= waited;
    received += result.value.length;
    if (leftMs <= 0) throw refuse();
    if (waitedMs >= rate.windowMs) {
      if (received < (rate.minBytesPerSecond * rate.windowMs) / 1000) throw refuse();
      waitedMs = 0;
      received = 0;
    }
    yield result.value;
  }
}

/**
 * Most values of a request: members of objects and items of lists, at all levels. Some hundred thousand would keep all other
 * callers waiting for seconds while they are read and checked; 50,000 are a table of 5,000 rows.
 */
export const MAX_JSON_VALUES = 50_000;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_ARRAY = 0x5b;
const OPEN_OBJECT = 0x7b;

/** Finds where the strings of a JSON text end that arrives in pieces. */
export class StringEnd {
  /** The piece before ended in an odd backslash. */
  #isEscaped = false;

  /** Position of the closing quote at or after `from`; -1 when the string goes on in the next piece. */
  find(bytes: Buffer, from: number): number {
    for (let at = from; ; ) {
      const quote = bytes.indexOf(QUOTE, at);
      const end = quote < 0 ? bytes.length : quote;
      let back = end;
      while (back > at && bytes[back - 1] === BACKSLASH) back -= 1;
      const isOdd = (end - back) % 2 === 1;
      const isOpen = back === at && this.#isEscaped ? !isOdd : isOdd;
      this.#isEscaped = quote < 0 && isOpen;
      if (quote < 0 || !isOpen) return quote;
      at = quote + 1;
    }
  }
}

/**
 * Counts the values of a JSON text in pieces, before it is parsed.
 *
 * @returns takes the next piece; throws ServiceError 400, bare, at the first value too many
 */
export function createValueGuard(): (piece: Uint8Array) => void {
  let values = 0;
  let inString = false;
  const stringEnd = new StringEnd();

  function count(): void {
    values += 1;
    if (values <= MAX_JSON_VALUES) return;
    const message = `The request body holds more than ${MAX_JSON_VALUES} values. Send fewer in one request.`;
    throw refuseBare(400, "too_many_values", message);
  }

  return (piece) => {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    for (let at = 0; at < bytes.length; at += 1) {
      if (inString) {
        const quote = stringEnd.find(bytes, at);
        if (quote < 0) return;
        at = quote;
        inString = false;
        continue;
      }
      const byte = bytes[at];
      if (byte === QUOTE) inString = true;
      else if (byte === COMMA || byte === OPEN_ARRAY || byte === OPEN_OBJECT) count();
    }
  };
}

/** Deepest JSON a request may hold; beyond some thousands the engine's own JSON writer runs out of stack. */
export const MAX_JSON_DEPTH = 256;

/** True when objects and arrays nest deeper than {@link MAX_JSON_DEPTH}. Iterative: depth costs no stack. */
export function isTooDeep(value: unknown): boolean {
  let level = [value];
  for (let depth = 0; depth <= MAX_JSON_DEPTH; depth += 1) {
    const next: unknown[] = [];
    for (const one of level) {
      if (typeof one !== "object" || one === null) continue;
      for (const member of Object.values(one)) if (typeof member === "object" && member !== null) next.push(member);
    }
    if (next.length === 0) return false;
    level = next;
  }
  return true;
}
