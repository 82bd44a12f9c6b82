import { type RequestInit as HttpRequestInit, fetch as httpFetch } from "undici";
import { createAppAgent } from "../../service/fetch/guarded-connector.ts";
import { readText } from "../../service/fetch/read-body.ts";
import { markJson } from "../../shared/base/exact-number.ts";
import { getOwn, parseJson } from "../../shared/base/json.ts";
import { LineReader } from "../../shared/base/line-reader.ts";
import { readChallenge } from "../port/bearer-challenge.ts";
import { hideSecrets } from "../port/hide-secrets.ts";
import { readNetworkFailure, readRetryAfter } from "../port/provider-failure.ts";
import { readProviderWords } from "../port/provider-words.ts";
import { createTooLong, MAX_ANSWER, McpHttpError, TOO_LONG_FAILURE } from "./mcp-http-error.ts";

const MAX_WORDS = 16_000;

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
    return toResponse(answer, { signal, id: getOwn(parseJson(typeof body === "string" ? body : ""), "id") });
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
  const said =
    status < 400 ? { message: "it redirects to another address" } : readProviderWords(hideSecrets(words, secrets));
  const challenge = readChallenge(headers.get("www-authenticate"));
  return new McpHttpError({ kind: "status", status, ...said, retryAfterSeconds }, { challenge });
}

/** The platform's own response, which the transport expects; JSON is read here, so that a broken answer is told apart. */
async function toResponse(
  { status, headers, body }: Answer,
  { signal, id }: { readonly signal: AbortSignal | null | undefined; readonly id: unknown },
): Promise<Response> {
  const init = { status, headers: Object.fromEntries(headers) };
  if (body === null || status === 204 || status === 205) return new Response(null, init);
  const type = headers.get("content-type") ?? "";
  if (status !== 200 || !/^application\/json\b/i.test(type)) {
    const isEvents = /^text\/event-stream\b/i.test(type);
    return new Response(ReadableStream.from(readBounded(body, { isEvents, id })), init);
  }
  const text = await readText(body, MAX_ANSWER).catch((error: unknown) => {
    if (signal?.aborted) throw error;
    throw new McpHttpError({ kind: "lost" }, { cause: error });
  });
  if (text === undefined) throw new McpHttpError(TOO_LONG_FAILURE);
  if (parseJson(text) === undefined) throw new McpHttpError({ kind: "garbage" });
  return new Response(markJson(text), init);
}

/**
 * The same text, whose numbers keep their digits. Where one event of a stream, or a body that is none, has more than
 * {@link MAX_ANSWER} bytes, an event fails the request instead: the reader collects them first.
 */
async function* readBounded(body: AsyncIterable<Uint8Array>, o: { readonly isEvents: boolean; readonly id: unknown }) {
  let ready: string[] = [];
  let size = 0;
  let isTooLong = false;
  const lines = new LineReader({
    max: MAX_ANSWER,
    onLine(text) {
      size = o.isEvents && text === "" ? 0 : size + text.length;
      isTooLong ||= size > MAX_ANSWER;
      ready.push(`${text.startsWith("id:") ? text : markJson(text)}\n`);
    },
    onTooLong() {
      isTooLong = true;
    },
  });
  for await (const part of body) {
    lines.push(part);
    isTooLong ||= size + lines.pending > MAX_ANSWER;
    if (isTooLong) break;
    if (ready.length > 0) yield Buffer.from(ready.join(""));
    ready = [];
  }
  lines.push(Buffer.from("\n"));
  if (!isTooLong) yield Buffer.from(ready.join("").slice(0, -1));
  else if (o.isEvents && typeof o.id === "number")
    yield Buffer.from(`\n\ndata: ${JSON.stringify(createTooLong(o.id))}\n\n`);
  else throw new Error(`The answer has more than ${MAX_ANSWER} bytes.`);
}
