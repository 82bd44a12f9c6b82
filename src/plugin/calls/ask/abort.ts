import { stopOnAbort } from "../../../shared/base/concurrency.ts";
import { isSvcError, type SvcError } from "../../../shared/errors.ts";

/** The error an aborted call ends with: the signal's own AbortError, or a new one that names the reason as its cause. */
function toAbortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return Object.assign(new DOMException("The call was aborted.", "AbortError"), { cause: reason });
}

/** Reason of an abort by which nobody takes a call back: its caller has ended. */
export const CALLER_GONE = new DOMException("The caller is gone.", "AbortError");

/** Throws an `AbortError` if the signal has fired: its reason, or an error with the reason as `cause`. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw toAbortError(signal);
}

/** `work`, rejected with an AbortError as soon as the signal fires. */
export function withAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  return signal === undefined ? work : stopOnAbort(work, signal, toAbortError);
}

/** A failure of the service or of the connection to it. Rethrows an abort and every other error. */
export function toFailure(error: unknown, signal: AbortSignal | undefined): SvcError {
  throwIfAborted(signal);
  if (!isSvcError(error)) throw error;
  return error;
}

/** True for an error named `AbortError`, of any class. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** True for a runtime's control flow (LangGraph marks it): never an outcome, always rethrown. */
export function isControlFlow(error: unknown): boolean {
  return typeof error === "object" && error !== null && "is_bubble_up" in error && error.is_bubble_up === true;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

interface AnswerWindow {
  /** Aborts when the time is over or the caller gave up. */
  readonly signal: AbortSignal;
  /** Aborts only when the time is over. */
  readonly expiry: AbortSignal;
  /** Releases the timer and listeners. Call it once there is an answer. */
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
