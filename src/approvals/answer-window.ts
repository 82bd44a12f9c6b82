const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The time a human has for an answer. */
export interface AnswerWindow {
  /** Aborts when the time is over or the caller gave up. */
  readonly signal: AbortSignal;
  /** Aborts only when the time is over. */
  readonly expiry: AbortSignal;
  /** Must be called when there is an answer: nothing is held until the end of the time then. */
  close(): void;
}

/** Opens a window of `ms` milliseconds, at most 24 days. It keeps no process alive. */
export function openAnswerWindow(ms: number, caller: AbortSignal | undefined): AnswerWindow {
  const controller = new AbortController();
  const end = () => controller.abort(new DOMException("The time for an answer is over.", "TimeoutError"));
  const timer = setTimeout(end, Math.min(ms, LONGEST_TIMER_MS));
  timer.unref();
  const expiry = controller.signal;
  const signal = caller === undefined ? expiry : AbortSignal.any([expiry, caller]);
  return { signal, expiry, close: () => clearTimeout(timer) };
}
