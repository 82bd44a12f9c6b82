import { Agent, buildConnector, type Dispatcher, request } from "undici";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { AllowedHosts } from "./address-rules.ts";
import { createGuardedConnector, type Network } from "./guarded-connector.ts";
import { refuseSize, refuseUrl } from "./url-refusal.ts";

/** Share links take up to three. */
const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/**
 * Longest waits in milliseconds: for a connection and again for the headers of an answer, between two pieces of a body,
 * and for one URL with its redirects and its preview.
 */
export const FETCH_LIMITS = { headersMs: 10_000, idleMs: 15_000, totalMs: 30_000 };

/** Limits of one fetch, in milliseconds, with the members of {@link FETCH_LIMITS}. */
export type FetchLimits = Readonly<typeof FETCH_LIMITS>;

/**
 * Connections of one fetch, made for it, gone with it, never shared with another. No proxy and no global dispatcher is used:
 * either would resolve names behind the guard's back.
 */
export function openRoutes(network: Network, limits: FetchLimits) {
  const options = {
    headersTimeout: limits.headersMs,
    bodyTimeout: limits.idleMs,
    maxResponseSize: MAX_FILE_BYTES,
    // A connection per request, so that every hop passes the guard.
    pipelining: 0,
    allowH2: false,
  };
  const guarded = new Agent({ ...options, connect: createGuardedConnector(network, limits.headersMs) });
  const connect = buildConnector({ allowH2: false, timeout: limits.headersMs });
  const trusted = new Agent({ ...options, connect });
  return {
    /** Reaches the public internet only. */
    guarded,
    /** Reaches hosts the owner allowed. */
    trusted,
    close: () => Promise.all([guarded.destroy(), trusted.destroy()]),
  };
}

/** Options of {@link openUrl}. */
export interface OpenUrlOptions {
  readonly routes: Pick<ReturnType<typeof openRoutes>, "guarded" | "trusted">;
  readonly allowed: AllowedHosts;
  /** False for an address that a page chose: the allow-list does not apply then. */
  readonly mayTrust: boolean;
  readonly signal: AbortSignal;
  /** The version that is known already: the answer may be that it has not changed. */
  readonly known?: KnownVersion;
}

/** How a host names the version of an answer. */
export interface KnownVersion {
  readonly etag?: string | undefined;
  /** As its header says it. */
  readonly lastModified?: string | undefined;
}

/** An answer with status 200 whose body was not read yet, or 304 for a version that is known. */
export interface OpenedUrl {
  /** Where the last redirect led. */
  readonly url: URL;
  /** True when every hop was on the owner's allow-list. */
  readonly isTrusted: boolean;
  /** True for 304: the body is empty. */
  readonly isUnchanged: boolean;
  readonly version: KnownVersion;
  readonly contentType: string;
  readonly disposition: string | undefined;
  readonly body: AsyncIterable<Uint8Array>;
}

type Answer = Dispatcher.ResponseData;

function readHeader({ headers }: Answer, name: string): string | undefined {
  const value = headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** The only headers ever sent: no credentials, no cookies. */
function ask(url: URL, dispatcher: Dispatcher, { signal, known }: OpenUrlOptions): Promise<Answer> {
  const headers = {
    ...{ accept: "*/*", "accept-encoding": "identity", "user-agent": "svc-agent-plugin" },
    ...(known?.etag && { "if-none-match": known.etag }),
    ...(known?.lastModified && { "if-modified-since": known.lastModified }),
  };
  return request(url, { dispatcher, signal, headers });
}

function findNext(answer: Answer, url: URL): URL | undefined {
  if (!REDIRECTS.has(answer.statusCode)) return undefined;
  const location = readHeader(answer, "location");
  const next = location === undefined ? null : URL.parse(location, url.href);
  if (next === null || (next.protocol !== "https:" && next.protocol !== "http:")) {
    throw refuseUrl("media_url_failed", "redirects to something that is no web address.");
  }
  return next;
}

function checkAnswer(answer: Answer, hint: string | undefined): void {
  const { statusCode: status } = answer;
  if (status === 429 || status >= 500) {
    throw refuseUrl("media_url_unavailable", `leads to a host that answers with HTTP ${status}.`);
  }
  if (status === 401 || status === 403) {
    throw refuseUrl("media_url_failed", `needs a sign-in or has expired: its host answers with HTTP ${status}.`, {
      hint,
    });
  }
  if (status !== 200)
    throw refuseUrl("media_url_failed", `gives no file: its host answers with HTTP ${status}.`, { hint });
  const encoding = readHeader(answer, "content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    throw refuseUrl("media_url_failed", "leads to a host that insists on sending the file compressed.");
  }
  if (Number(readHeader(answer, "content-length") ?? 0) > MAX_FILE_BYTES) throw refuseSize();
}

/** Common servers refuse longer ones. */
const MAX_URL_LENGTH = 8192;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const CONTROL = /[\u0000-\u001f\u007f]/;

/** The web address in a text; throws {@link refuseUrl} for anything else. */
export function readUrl(reference: string): URL {
  const text = reference.trim();
  const url = CONTROL.test(text) || text.length > MAX_URL_LENGTH ? null : URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol)) throw refuseUrl("media_url_invalid", "is not a web address.");
  return url;
}

/** Throws {@link refuseUrl} for an address with a user name or password in it. */
export function checkCredentials({ username, password }: URL): void {
  if (username === "" && password === "") return;
  throw refuseUrl("media_url_invalid", "holds a user name or password, or redirects to one that does.");
}

/**
 * Asks for `start` and follows at most five redirects, each through the guard again. `hint` replaces the general advice
 * when the host refuses.
 *
 * Throws ServiceErrors of {@link refuseUrl}, and errors of the network.
 */
export async function openUrl(start: URL, o: OpenUrlOptions, hint?: string): Promise<OpenedUrl> {
  let url = start;
  let isTrusted = o.mayTrust;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop += 1) {
    checkCredentials(url);
    isTrusted &&= o.allowed.has(url);
    const answer = await ask(url, isTrusted ? o.routes.trusted : o.routes.guarded, o);
    const next = findNext(answer, url);
    if (next === undefined) {
      const isUnchanged = answer.statusCode === 304 && o.known !== undefined;
      if (!isUnchanged) checkAnswer(answer, hint);
      return {
        ...{ url, isTrusted, isUnchanged, body: answer.body },
        version: { etag: readHeader(answer, "etag"), lastModified: readHeader(answer, "last-modified") },
        contentType: readHeader(answer, "content-type") ?? "",
        disposition: readHeader(answer, "content-disposition"),
      };
    }
    url = next;
  }
  throw refuseUrl("media_url_failed", `redirects more than ${MAX_REDIRECTS} times.`);
}
