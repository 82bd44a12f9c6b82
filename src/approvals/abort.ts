/** The error an aborted call ends with: the signal's own AbortError, or a new one that names the reason as its cause. */
function toAbortError(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  if (reason instanceof Error && reason.name === "AbortError") return reason;
  return Object.assign(new DOMException("The call was aborted.", "AbortError"), { cause: reason });
}

/** Throws when the signal has fired. */
export function throwIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw toAbortError(signal);
}

/** `work`, given up with an AbortError as soon as the signal fires, whatever `work` is waiting for. */
export async function withAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (signal === undefined) return work;
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(toAbortError(signal));
  signal.addEventListener("abort", stop, { once: true });
  try {
    if (signal.aborted) stop();
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", stop);
    // The loser of the race must not surface as an unhandled rejection.
    work.catch(() => undefined);
    promise.catch(() => undefined);
  }
}

/** True for the error of an aborted call. */
export function isAbort(error: unknown): boolean {
  return error instanceof Error && error.name === "AbortError";
}

/** True for a runtime's control flow (LangGraph marks it so): never an outcome, always thrown on. */
export function isControlFlow(error: unknown): boolean {
  return typeof error === "object" && error !== null && "is_bubble_up" in error && error.is_bubble_up === true;
}
