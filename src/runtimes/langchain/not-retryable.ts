/** LangChain's own mark for errors that another try cannot help; its retry middleware looks for it. */
const RETRYABLE = Symbol.for("langchain.errors.retryable");

/** Marks an error that must be thrown, an abort or a graph's control flow, so that no middleware tries again. */
export function markNotRetryable<T>(error: T): T {
  if (typeof error === "object" && error !== null && Object.isExtensible(error)) {
    Object.defineProperty(error, RETRYABLE, { value: false, configurable: true });
  }
  return error;
}
