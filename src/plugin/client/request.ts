import type { Readable } from "node:stream";
import { describeFailure, RequestStopped, type SendState } from "./failure.ts";
import { decodeContent } from "./read-body.ts";

/** What a client needs of an undici agent, of whatever version a program has. */
export interface HttpDispatcher {
  dispatch(options: DispatchOptions, handler: DispatchHandler): boolean;
  close(): Promise<void>;
}

interface DispatchOptions {
  readonly method: "GET" | "POST" | "PUT";
  readonly origin: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string | Readable;
}

interface DispatchHandler {
  onRequestStart(controller: DispatchController): void;
  onResponseStart(controller: DispatchController, status: number, headers: IncomingHeaders): void;
  onResponseData(controller: DispatchController, chunk: Buffer): void;
  onResponseEnd(): void;
  onResponseError(controller: DispatchController, error: Error): void;
}

interface DispatchController {
  abort(reason: Error): void;
}

type IncomingHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** A body that can be sent more than once: `open` makes a fresh stream each time. */
export interface RequestBody {
  readonly contentType: string;
  /** Exact number of bytes that `open` yields; another number fails the request. */
  readonly contentLength: number;
  /**
   * Starts the stream from its beginning. A chunk need not last once the next is asked for: its memory may be used
   * again. A `SvcError` thrown from it is passed on to the caller, and the service never sees a complete request.
   */
  open(): AsyncIterable<Uint8Array>;
}

interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT";
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A string is sent as JSON. */
  readonly body?: string | RequestBody | undefined;
  /** How messages name this request; holds no query, no token and no key. */
  readonly label: string;
  /** Limit for the answer, in milliseconds; starts again whenever the service takes a piece of a streamed body. */
  readonly timeoutMs: number;
  /** Largest answer in bytes, before and after content decoding. */
  readonly maxReplyBytes: number;
  readonly signal?: AbortSignal | undefined;
  readonly secrets: readonly string[];
}

interface HttpReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Uint8Array;
}

/** True for a streamed body; any other value is sent as JSON. */
export function isRequestBody(value: unknown): value is RequestBody {
  return typeof value === "object" && value !== null && "open" in value && typeof value.open === "function";
}

/**
 * Sends one request and reads its answer, whatever the status. Redirects are not followed, nothing is retried.
 *
 * @throws SvcError `unreachable`, `timeout`, `aborted` or `bad_response`, each with `sent`; or the `SvcError` that the
 * body's own stream threw.
 */
export async function sendRequest(dispatcher: HttpDispatcher, request: HttpRequest): Promise<HttpReply> {
  const state: SendState = { started: false, bodyError: undefined };
  const deadline = createDeadline(request);
  try {
    deadline.signal.throwIfAborted();
    const raw = await dispatch(dispatcher, request, { state, signal: deadline.signal, onProgress: deadline.restart });
    return { ...raw, bytes: await decodeContent(raw.bytes, raw.headers["content-encoding"], request.maxReplyBytes) };
  } catch (error) {
    throw describeFailure(error, request, state);
  } finally {
    deadline.clear();
  }
}

interface Exchange {
  readonly state: SendState;
  readonly signal: AbortSignal;
  readonly onProgress: () => void;
}

/**
 * `dispatch` is used rather than undici's `request`: it tells when the first byte is about to leave, and it lets an
 * abort settle at once even while the connection is still being made.
 */
function dispatch(dispatcher: HttpDispatcher, request: HttpRequest, exchange: Exchange): Promise<HttpReply> {
  const { state, signal } = exchange;
  return new Promise((resolve, reject) => {
    let controller: DispatchController | undefined;
    let status = 0;
    let headers: Record<string, string> = {};
    let size = 0;
    const chunks: Buffer[] = [];
    const fail = (error: Error) => {
      signal.removeEventListener("abort", stop);
      reject(error);
      controller?.abort(error);
    };
    const stop = () => fail(asError(signal.reason));
    signal.addEventListener("abort", stop, { once: true });

    const limit = () => fail(new RequestStopped("too_large", `over ${request.maxReplyBytes} bytes`));
    dispatcher.dispatch(toDispatchOptions(request, exchange), {
      onRequestStart(started) {
        if (signal.aborted) return started.abort(asError(signal.reason));
        controller = started;
        state.started = true;
      },
      onResponseStart(_controller, statusCode, incoming) {
        if (statusCode < 200) return;
        status = statusCode;
        headers = flattenHeaders(incoming);
        if (Number(headers["content-length"] ?? 0) > request.maxReplyBytes) limit();
      },
      onResponseData(_controller, chunk) {
        size += chunk.length;
        if (size > request.maxReplyBytes) return limit();
        chunks.push(chunk);
      },
      onResponseEnd() {
        signal.removeEventListener("abort", stop);
        resolve({ status, headers, bytes: Buffer.concat(chunks) });
      },
      onResponseError: (_controller, error) => fail(error),
    });
  });
}

function toDispatchOptions(request: HttpRequest, exchange: Exchange): DispatchOptions {
  const headers: Record<string, string> = { ...request.headers };
  const options = { origin: request.origin, path: request.path, method: request.method, headers };
  const { body } = request;
  if (body === undefined) return options;
  if (typeof body === "string") {
    headers["content-type"] ??= "application/json";
    return { ...options, body };
  }
  headers["content-type"] ??= body.contentType;
  headers["content-length"] = String(body.contentLength);
  // undici sends any async iterable; its type names only the ready-made ones.
  const stream: unknown = watchBody(body, exchange);
  return { ...options, body: stream as Readable };
}

async function* watchBody(body: RequestBody, { state, onProgress }: Exchange): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of body.open()) {
      onProgress();
      yield chunk;
    }
  } catch (error) {
    state.bodyError = error;
    throw error;
  }
}

function flattenHeaders(headers: IncomingHeaders): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name.toLowerCase()] = Array.isArray(value) ? value.join(", ") : value;
  }
  return flat;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new RequestStopped("aborted", "aborted");
}

/** A streamed body may take this much longer for each of its bytes: a floor of 16 KiB per second. */
const MS_PER_UPLOAD_BYTE = 1000 / (16 * 1024);

/**
 * Two limits, because undici has none for writing: `timeoutMs` without progress stops a service that no longer reads;
 * a total that grows with the size of the upload stops a service that reads a byte now and then.
 */
function createDeadline({ timeoutMs, signal, body }: HttpRequest) {
  const uploadBytes = isRequestBody(body) ? body.contentLength : 0;
  const controller = new AbortController();
  const stop = (kind: "timeout" | "aborted") => controller.abort(new RequestStopped(kind, kind));
  const onAbort = () => stop("aborted");
  if (signal?.aborted) onAbort();
  signal?.addEventListener("abort", onAbort, { once: true });

  const idle = setTimeout(() => stop("timeout"), timeoutMs);
  const ceilingMs = Math.min(timeoutMs + uploadBytes * MS_PER_UPLOAD_BYTE, 2 ** 31 - 1);
  const ceiling = setTimeout(() => stop("timeout"), ceilingMs);
  return {
    signal: controller.signal,
    /** The service took a piece of the body. */
    restart: () => void idle.refresh(),
    clear() {
      clearTimeout(idle);
      clearTimeout(ceiling);
      signal?.removeEventListener("abort", onAbort);
    },
  };
}
