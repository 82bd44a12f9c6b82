import { ServiceError } from "../service-error.ts";

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
