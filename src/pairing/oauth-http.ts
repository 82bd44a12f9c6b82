import * as oauth from "oauth4webapi";
import type { Dispatcher } from "undici";
import { isLoopbackHost } from "../client/base-url.ts";
import { createDispatcher, type ProxySettings } from "../client/create-dispatcher.ts";
import { nameRequest } from "../client/name-request.ts";
import { sendRequest } from "../client/request.ts";
import { SvcError } from "../errors.ts";

const TIMEOUT_MS = 15_000;
/** Metadata and tokens are a few KiB. */
const MAX_REPLY_BYTES = 256 * 1024;

/** What the OAuth library's functions take. */
interface RequestOptions {
  readonly [oauth.customFetch]: (url: string, init: FetchInit) => Promise<Response>;
  readonly [oauth.allowInsecureRequests]: boolean;
  readonly signal?: AbortSignal;
}

/** What the OAuth library hands to a `fetch`. */
interface FetchInit {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

/**
 * The HTTP of an OAuth sign-in: to the service and to the one authorization server it names, over https or, for a
 * service on this machine, to this machine; no redirects, answers of at most 256 KiB within 15 s.
 */
export interface OAuthHttp {
  /** Checks an address that came from outside, and lets requests go to its origin. Throws `pairing_failed`. */
  admit(address: string, field: string): URL;
  options(signal?: AbortSignal): RequestOptions;
  close(): Promise<void>;
}

/** Opens the HTTP of the sign-in to `baseUrl`, which must have passed `parseBaseUrl`. */
export function createOAuthHttp({ baseUrl, proxy }: { baseUrl: string; proxy?: ProxySettings | undefined }): OAuthHttp {
  const isLocal = isLoopbackHost(new URL(baseUrl).hostname);
  const dispatchers = new Map<string, Dispatcher>();
  const open = (origin: string) => {
    if (!dispatchers.has(origin)) dispatchers.set(origin, createDispatcher(origin, proxy));
  };
  open(new URL(baseUrl).origin);

  const fetch = async (address: string, init: FetchInit): Promise<Response> => {
    const url = new URL(address);
    const dispatcher = dispatchers.get(url.origin);
    if (dispatcher === undefined) throw refuse("an endpoint", `is on ${url.host}, not where the metadata came from`);
    const label = `${init.method} ${url.pathname}`;
    const { status, headers, bytes } = await sendRequest(dispatcher, {
      method: init.method === "POST" ? "POST" : "GET",
      origin: url.origin,
      path: url.pathname + url.search,
      headers: init.headers,
      ...(init.body === undefined || init.body === null ? {} : { body: String(init.body) }),
      label,
      timeoutMs: TIMEOUT_MS,
      maxReplyBytes: MAX_REPLY_BYTES,
      signal: init.signal,
      secrets: [],
    });
    if (status >= 300 && status < 400) {
      const message = nameRequest(`HTTP ${status} redirects; redirects are never followed.`, label);
      throw new SvcError("bad_response", message, { status, hint: "Use the address the service really has." });
    }
    return new Response(bytes.length === 0 ? null : Buffer.from(bytes), { status, headers });
  };

  return {
    admit(address, field) {
      const url = URL.parse(address);
      if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) {
        throw refuse(field, "is not an address");
      }
      if (url.username !== "" || url.password !== "") throw refuse(field, "holds a user name or password");
      const isThisMachine = isLoopbackHost(url.hostname);
      if (url.protocol === "http:" && !isThisMachine) throw refuse(field, `is plain http on ${url.host}`);
      // A service elsewhere has no business with the programs of this machine.
      if (isThisMachine && !isLocal) throw refuse(field, `is ${url.host}, which is this machine and not the service`);
      open(url.origin);
      return url;
    },
    options: (signal) => ({
      [oauth.customFetch]: fetch,
      // Every address was checked above; the library would refuse this machine too.
      [oauth.allowInsecureRequests]: true,
      ...(signal === undefined ? {} : { signal }),
    }),
    async close() {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.close()));
    },
  };
}

/** The refusal of what a service says about its own sign-in. */
export function refuse(field: string, problem: string): SvcError {
  return new SvcError("pairing_failed", `The service's sign-in cannot be used: ${field} ${problem}.`, {
    field,
    hint: 'Check the base URL and tell whoever runs the service; "svc pair" works without this sign-in.',
  });
}
