import type { Dispatcher } from "undici";
import { SvcError } from "../errors.ts";
import { API_KEY_HEADER } from "../wire/constants.ts";
import { type ClientSettings, checkTimeout } from "./client-options.ts";
import { nameRequest } from "./failure.ts";
import { ACCEPTED_ENCODINGS, readJson } from "./read-body.ts";
import { type ApiReply, isTransientStatus, recogniseShape } from "./reply.ts";
import { isRequestBody, type RequestBody, sendRequest } from "./request.ts";
import { parseRetryAfter, withRetries } from "./retry.ts";

/** Options of every call. */
export interface CallOptions {
  /** Ends the call at once, its socket included. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Milliseconds for the whole call, 1 to 24 days, all tries and waits included; default 60,000. While a streamed body
   * is being sent it limits the time without progress instead. Another value is refused with `invalid_config`.
   */
  readonly timeoutMs?: number | undefined;
}

/** Values that make up a query; undefined ones are left out. */
type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** One call of the API. */
export interface ApiCall {
  readonly method: "GET" | "POST" | "PUT";
  /** Path below the base URL, each segment encoded. */
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

/** Parts of a transport. */
type TransportParts = Omit<ClientSettings, "principal"> & { readonly dispatcher: Dispatcher };

/** Makes the transport of one client. */
export function createTransport(parts: TransportParts): Transport {
  const { apiKey } = parts;
  const secrets: readonly string[] = apiKey === undefined ? [] : [apiKey];
  const { origin, pathname } = new URL(parts.baseUrl);
  const place = { origin, path: pathname.replace(/\/$/, "") };
  return {
    baseUrl: parts.baseUrl,
    holdsCredential: (text) => secrets.some((secret) => text.includes(secret)),
    call: async (call) => {
      const label = call.label ?? `${call.method} ${call.path}`;
      const credential = chooseCredential(apiKey, call.credential, label);
      const body = encodeBody(call.body, label);
      const { signal, timeoutMs = parts.timeoutMs } = call.options ?? {};
      if (timeoutMs !== parts.timeoutMs) checkTimeout(timeoutMs);
      const attempt = (remainingMs: number) =>
        sendOnce(parts, call, { ...place, label, body, credential, secrets, timeoutMs: remainingMs });
      const isRead = call.method === "GET";
      return withRetries(
        {
          attempt,
          askRetry: (reply) => (isRead && asksForAnotherTry(reply) ? { retryAfterMs: reply.retryAfterMs } : undefined),
          mayRetry: (error) => error.code === "unreachable" && (isRead || error.sent === false),
          label,
          timeoutMs,
          signal,
        },
        parts,
      );
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

interface Sending {
  readonly origin: string;
  /** Before the path of each call; no slash at the end. */
  readonly path: string;
  readonly label: string;
  readonly body: string | RequestBody | undefined;
  readonly credential: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly timeoutMs: number;
}

async function sendOnce(parts: TransportParts, call: ApiCall, sending: Sending): Promise<ApiReply> {
  const { label, body, origin, timeoutMs } = sending;
  const secrets = [...sending.secrets, ...(call.secrets ?? [])];
  const { status, headers, bytes } = await sendRequest(parts.dispatcher, {
    method: call.method,
    origin,
    path: sending.path + call.path + formatQuery(call.query),
    headers: {
      accept: "application/json",
      "accept-encoding": ACCEPTED_ENCODINGS,
      "user-agent": parts.userAgent,
      ...call.headers,
      ...sending.credential,
    },
    body,
    label,
    maxReplyBytes: call.maxReplyBytes ?? parts.maxReplyBytes,
    signal: call.options?.signal,
    secrets,
    timeoutMs,
  });
  const retryAfterMs = parseRetryAfter(headers["retry-after"], parts.now());
  return { status, headers, ...readJson(bytes, secrets), retryAfterMs, label, secrets };
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
