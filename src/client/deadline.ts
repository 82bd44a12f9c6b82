import { RequestStopped } from "./describe-failure.ts";

/** A streamed body may take this much longer for each of its bytes: a floor of 16 KiB per second. */
const MS_PER_UPLOAD_BYTE = 1000 / (16 * 1024);

/** Ends a request that takes too long or whose caller gave up. */
export interface Deadline {
  /** Aborts with a {@link RequestStopped} as its reason. */
  readonly signal: AbortSignal;
  /** Starts the time limit again: the service took a piece of the body. */
  readonly restart: () => void;
  /** Must be called when the request has ended. */
  readonly clear: () => void;
}

/**
 * Two limits, because undici has none for writing: `timeoutMs` without progress, so that a service which stops reading
 * cannot hold us, and a ceiling that grows with the size of the upload, so that one which reads a byte now and then
 * cannot either.
 */
export function createDeadline(options: {
  timeoutMs: number;
  uploadBytes: number;
  signal: AbortSignal | undefined;
}): Deadline {
  const controller = new AbortController();
  const stop = (kind: "timeout" | "aborted") => controller.abort(new RequestStopped(kind, kind));
  const onAbort = () => stop("aborted");
  if (options.signal?.aborted) onAbort();
  options.signal?.addEventListener("abort", onAbort, { once: true });

  const idle = setTimeout(() => stop("timeout"), options.timeoutMs);
  const ceilingMs = Math.min(options.timeoutMs + options.uploadBytes * MS_PER_UPLOAD_BYTE, 2 ** 31 - 1);
  const ceiling = setTimeout(() => stop("timeout"), ceilingMs);
  return {
    signal: controller.signal,
    restart: () => {
      idle.refresh();
    },
    clear: () => {
      clearTimeout(idle);
      clearTimeout(ceiling);
      options.signal?.removeEventListener("abort", onAbort);
    },
  };
}
