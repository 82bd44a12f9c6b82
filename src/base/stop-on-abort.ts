/** Rejects with the signal's reason on abort, also when the work does not listen to its signal. */
export function stopOnAbort<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason);
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}
