import { checkNumbers, WAIT_BOUNDS } from "../../shared/base/check-settings.ts";
import { SvcError } from "../../shared/errors.ts";
import { API_KEY_HEADER } from "../../shared/wire/constants.ts";
import type { ClientSettings } from "./client-options.ts";
import { nameRequest } from "./failure.ts";
import { ACCEPTED_ENCODINGS, readJson } from "./read-body.ts";
import { type ApiReply, isTransientStatus, recogniseShape } from "./reply.ts";
import { type HttpDispatcher, isRequestBody, type RequestBody, sendRequest } from "./request.ts";
import { parseRetryAfter, withRetries } from "./retry.ts";

/** Signal and time limit of one call. */
export interface CallOptions {
  /** Ends the call at once, its socket included. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the whole call, 1 to 24 days, all tries and waits included; default 75,000. While a streamed body
   * is being sent it limits the time without progress instead. Another value is refused with `invalid_config`.
   */
  readonly timeoutMs?: number | undefined;
}

type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One request to the service. */
export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT";
  /** Below the base URL, with a slash first; its segments are encoded. */
  readonly path: string;
  /** How messages name the call; default method and path. Set it when the path holds a secret. */
  readonly label?: string | undefined;
  readonly query?: Query | undefined;
  /** A {@link RequestBody}, or a value to send as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Whether the API key is sent. Default `key`. */
  readonly credential?: "key" | "none" | undefined;
  /** Secrets of this call besides the key, kept out of every message. */
  readonly secrets?: readonly string[] | undefined;
  /** Largest answer in bytes; default 16 MiB. */
  readonly maxReplyBytes?: number | undefined;
  readonly options?: CallOptions | undefined;
}

/** The HTTP half of a client: everything below the meaning of an answer. */
export interface Transport {
  /** Origin and path, no trailing slash. */
  readonly baseUrl: string;
  /** True when the text holds the API key of this client. */
  holdsCredential(text: string): boolean;
  /**
   * Sends a call and returns its answer, whatever the status. A read is tried up to three times on network failures and
   * on 429, 502, 503 and 504; anything else only if it provably never left.
   */
  call(call: ApiCall): Promise<ApiReply>;
}

type TransportParts = Omit<ClientSettings, "principal"> & { readonly dispatcher: HttpDispatcher };

/** HTTP for one base URL and key. A redirect is an answer, and never followed. */
export function createTransport(parts: TransportParts): Transport {
  const { apiKey, baseUrl } = parts;
  const { origin, pathname } = new URL(baseUrl);
  return {
    baseUrl,
    holdsCredential: (text) => apiKey !== undefined && text.includes(apiKey),
    async call(call) {
      const { label = `${call.method} ${call.path}`, options = {} } = call;
      if (options.timeoutMs !== undefined) checkNumbers(options, { timeoutMs: WAIT_BOUNDS });
      const { signal, timeoutMs = parts.timeoutMs } = options;
      const secrets = [...(apiKey === undefined ? [] : [apiKey]), ...(call.secrets ?? [])];
      const request = {
        method: call.method,
        origin,
        path: pathname.replace(/\/$/, "") + call.path + formatQuery(call.query),
        headers: {
          accept: "application/json",
          "accept-encoding": ACCEPTED_ENCODINGS,
          "user-agent": parts.userAgent,
          ...call.headers,
          ...chooseCredential(apiKey, call.credential, label),
        },
        body: encodeBody(call.body, label),
        maxReplyBytes: call.maxReplyBytes ?? parts.maxReplyBytes,
        label,
        signal,
        secrets,
      };
      const attempt = async (remainingMs: number): Promise<ApiReply> => {
        const { status, headers, bytes } = await sendRequest(parts.dispatcher, { ...request, timeoutMs: remainingMs });
        const retryAfterMs = parseRetryAfter(headers["retry-after"], parts.now());
        return { status, headers, ...readJson(bytes, secrets), retryAfterMs, label, secrets };
      };
      const isRead = call.method === "GET";
      const askRetry = (reply: ApiReply) => (isRead && asksForAnotherTry(reply) ? reply : undefined);
      const mayRetry = (error: SvcError) => error.code === "unreachable" && (isRead || error.sent === false);
      return withRetries({ attempt, askRetry, mayRetry, label, timeoutMs, signal }, parts);
    },
  };
}

/**
 * The header with the key, or none where the endpoint needs none.
 *
 * @throws SvcError `credentials_missing` when the endpoint needs a key and there is none; nothing is sent then
 */
function chooseCredential(
  apiKey: string | undefined,
  need: ApiCall["credential"],
  label: string,
): Readonly<Record<string, string>> {
  if (need === "none") return {};
  if (apiKey !== undefined) return { [API_KEY_HEADER]: apiKey };
  throw new SvcError("credentials_missing", nameRequest("This client has no API key, so nothing was sent.", label), {
    hint: 'Pair this device first ("svc pair"), or pass apiKey.',
    sent: false,
  });
}

/**
 * One path segment of the API.
 *
 * @throws SvcError `unsupported` for an empty or dot segment, which a server would resolve to another endpoint
 */
export function encodeSegment(value: string | number, field: string): string {
  const text = String(value);
  if (text === "" || text === "." || text === "..") {
    throw new SvcError("unsupported", `${field} must not be empty, "." or "..".`, { field, sent: false });
  }
  try {
    return encodeURIComponent(text);
  } catch {
    throw new SvcError("unsupported", `${field} is not well-formed text.`, { field, sent: false });
  }
}

/** A transient status, unless the body says that trying again is useless (a daily limit, for one). */
function asksForAnotherTry(reply: ApiReply): boolean {
  if (!isTransientStatus(reply.status)) return false;
  const shape = recogniseShape(reply.json);
  return !(shape?.kind === "envelope" && shape.envelope.error?.retryable === false);
}

function encodeBody(body: unknown, label: string): string | RequestBody | undefined {
  if (body === undefined || isRequestBody(body)) return body;
  try {
    return JSON.stringify(body);
  } catch {
    throw new SvcError("unsupported", nameRequest("The request holds a value that JSON cannot carry.", label), {
      hint: "Remove cycles and BigInt values from the arguments.",
      sent: false,
    });
  }
}

function formatQuery(query: Query = {}): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) search.set(name, String(value));
  }
  const text = search.toString();
  return text === "" ? "" : `?${text}`;
}
