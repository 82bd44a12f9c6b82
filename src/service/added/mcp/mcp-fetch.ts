import type { Transport } from "@modelcontextprotocol/client";
import { type RequestInit as HttpRequestInit, fetch as httpFetch } from "undici";
import { parseJson } from "../../../base/json.ts";
import { createAppAgent } from "../../fetch/guarded-connector.ts";
import { readText } from "../../fetch/read-body.ts";
import { readChallenge } from "../../integrations/bearer-challenge.ts";
import { findProviderWords, readNetworkFailure, readRetryAfter } from "../../integrations/provider-failure.ts";
import { hideSecrets } from "../../secrets/secret-settings.ts";
import { McpHttpError, STREAM_ENDED } from "./mcp-http-error.ts";

/** Longest answer, or event of a stream, in bytes. How many events there are has no limit of its own. */
const MAX_JSON = 10 * 1024 * 1024;
const MAX_WORDS = 1_000;

/** HTTP client for the transport of one connection. */
interface McpFetch {
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>;
  close(): Promise<void>;
}

/**
 * The headers of the connection go to the exact origin of the server and nowhere else, and no redirect is followed.
 * Rejects with {@link McpHttpError} where the network fails, where the server redirects, and for statuses that mean the
 * same at any time (401, 403, 409, 422, 429, 5xx); other statuses are the protocol's business.
 */
export function createMcpFetch(server: {
  readonly url: string;
  readonly isPrivate: boolean;
  /** Asked for each request: a token may have been renewed. */
  readonly readHeaders: () => Promise<Readonly<Record<string, string>>>;
}): McpFetch {
  const { origin } = new URL(server.url);
  // Events may be far apart; a call has the caller's own time limit.
  const agent = createAppAgent({ isPrivate: server.isPrivate, silenceMs: 0 });

  async function send(url: string | URL, init: RequestInit = {}): Promise<Response> {
    if (new URL(url).origin !== origin) throw new McpHttpError({ kind: "unreachable", message: "another origin" });
    const own = await server.readHeaders();
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...own };
    const { method = "GET", body, signal } = init;
    const request: HttpRequestInit = { method, headers, redirect: "manual", dispatcher: agent.dispatcher };
    const answer = await httpFetch(url, {
      ...request,
      ...(typeof body === "string" && { body }),
      ...(signal && { signal }),
    }).catch((error: unknown) => {
      if (signal?.aborted) throw error;
      throw new McpHttpError(readNetworkFailure(error), { cause: error });
    });
    if (isFailure(answer.status)) throw await readFailure(answer, own);
    return toResponse(answer, signal);
  }

  return { fetch: send, close: agent.close };
}

type Answer = Awaited<ReturnType<typeof httpFetch>>;

function isFailure(status: number): boolean {
  return (status >= 300 && status < 400) || [401, 403, 409, 422, 429].includes(status) || status >= 500;
}

async function readFailure(
  { status, headers, body }: Answer,
  secrets: Readonly<Record<string, string>>,
): Promise<McpHttpError> {
  const words = (body && (await readText(body, MAX_WORDS).catch(() => undefined))) ?? "";
  const retryAfterSeconds = readRetryAfter(headers.get("retry-after"), Date.now());
  const message = status < 400 ? "it redirects to another address" : findProviderWords(hideSecrets(words, secrets));
  const challenge = readChallenge(headers.get("www-authenticate"));
  return new McpHttpError({ kind: "status", status, message, retryAfterSeconds }, { challenge });
}

/** The platform's own response, which the transport expects; JSON is read here, so that a broken answer is told apart. */
async function toResponse(
  { status, headers, body }: Answer,
  signal: AbortSignal | null | undefined,
): Promise<Response> {
  const init = { status, headers: Object.fromEntries(headers) };
  if (body === null || status === 204 || status === 205) return new Response(null, init);
  const type = headers.get("content-type") ?? "";
  if (status !== 200 || !/^application\/json\b/i.test(type)) {
    const isEvents = /^text\/event-stream\b/i.test(type);
    return new Response(boundBody(body, { isEvents, max: MAX_JSON }), init);
  }
  const text = await readText(body, MAX_JSON).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new McpHttpError({ kind: "lost" }, { cause: error });
  });
  if (text === undefined) throw new McpHttpError({ kind: "garbage", message: `more than ${MAX_JSON} bytes` });
  if (parseJson(text) === undefined) throw new McpHttpError({ kind: "garbage" });
  return new Response(text, init);
}

const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;

/**
 * The same bytes, which break off where one event of a stream, or a body that is none, has more than `max` of them: the
 * reader collects them first.
 */
function boundBody(
  body: AsyncIterable<Uint8Array>,
  { isEvents, max }: { readonly isEvents: boolean; readonly max: number },
): ReadableStream<Uint8Array> {
  return ReadableStream.from(readBounded(body, isEvents ? countEvent() : countAll(), max));
}

async function* readBounded(body: AsyncIterable<Uint8Array>, count: (part: Uint8Array) => number, max: number) {
  for await (const part of body) {
    if (count(part) > max) throw new Error(`The answer has more than ${max} bytes.`);
    yield part;
  }
}

function countAll(): (part: Uint8Array) => number {
  let size = 0;
  return (part) => {
    size += part.length;
    return size;
  };
}

/** Bytes since the last empty line, which ends an event. */
function countEvent(): (part: Uint8Array) => number {
  let size = 0;
  let line = 0;
  return (part) => {
    for (const byte of part) {
      size += 1;
      if (byte === LINE_FEED) {
        if (line === 0) size = 0;
        line = 0;
      } else if (byte !== CARRIAGE_RETURN) line += 1;
    }
    return size;
  };
}

/**
 * Lets a request fail when the stream of events with its answer has ended without it, and could not be resumed. The
 * transport knows, but waits for the answer all the same until the time of the request is over.
 */
export function failAtStreamEnd<T extends Transport>(transport: T): T {
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    if (!("method" in message) || !("id" in message)) return send(message, options);
    const { id } = message;
    const onRequestStreamEnd = () => {
      options?.onRequestStreamEnd?.();
      // A request that was answered before is not waited for any more.
      const error = { code: STREAM_ENDED, message: "the stream ended without an answer" };
      transport.onmessage?.({ jsonrpc: "2.0", id, error });
    };
    return send(message, { ...options, onRequestStreamEnd });
  };
  return transport;
}
