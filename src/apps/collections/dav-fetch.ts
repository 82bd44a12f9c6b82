import { type Dispatcher, request } from "undici";
import { decodeBody, readBody } from "../../service/fetch/read-body.ts";
import { refuseSetting, ServiceError } from "../../service/service-error.ts";
import type { RemoteCall } from "../port/remote-call.ts";
import type { DavSettings } from "./dav-settings.ts";

/** Longest answer, in bytes. */
const MAX_ANSWER = 64 * 1024 * 1024;
const MAX_REDIRECTS = 3;
/** Bodies that never are. */
const NO_BODY = new Set([204, 205, 304]);
const EFFECTS = /^(?:PUT|DELETE|POST|PATCH|MKCOL|MKCALENDAR|PROPPATCH|MOVE|COPY)$/;

/** The requests of a WebDAV library for the length of one call. */
export interface DavFetch {
  readonly fetch: typeof globalThis.fetch;
  /** Does something with the library; whatever it makes of a failure, the failure itself comes out. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * A `fetch` that signs in, sends once, and gives the password to no host but the one that the owner named: a redirect or an
 * address of the server that leads to another one is refused. Every failure is a ServiceError.
 */
export function createDavFetch(
  call: RemoteCall,
  { settings, dispatcher }: { readonly settings: DavSettings; readonly dispatcher: Dispatcher },
): DavFetch {
  let failure: unknown;
  let foreign: ServiceError | undefined;
  const authorization = `Basic ${Buffer.from(`${settings.user}:${settings.password}`).toString("base64")}`;

  async function sendOnce(url: URL, method: string, init: RequestInit): Promise<Response> {
    if (!isSameHost(url, settings.url)) {
      foreign = refuseSetting(
        "server",
        `leads to ${url.host}, and the password is given to no host but the one named there. If you trust it, name https://${url.host} instead.`,
      );
      throw foreign;
    }
    const isEffect = EFFECTS.test(method);
    const headers = {
      ...Object.fromEntries(new Headers(init.headers)),
      authorization,
      "accept-encoding": "identity",
      "user-agent": "svc-agent-plugin",
    };
    const { body: given } = init;
    const body = typeof given === "string" || given instanceof Uint8Array ? { body: given } : {};
    const send = () =>
      request(url, { method: method as Dispatcher.HttpMethod, headers, dispatcher, signal: call.signal, ...body });
    const reply = await call.ask(send, { isEffect, expects: isEffect ? [] : [301, 302, 303, 307, 308] });
    const encoding = reply.headers["content-encoding"];
    const bytes = await readBody(decodeBody(reply.body, encoding), MAX_ANSWER).catch((error: unknown) => {
      throw call.explain(error, { isEffect });
    });
    const status = reply.statusCode;
    const isReport = method === "PROPFIND" || method === "REPORT";
    if (bytes === undefined || (isReport && status < 300 && status !== 207)) throw call.refuseGarbage({ isEffect });
    const answered = Object.entries(reply.headers).flatMap(([name, value]) =>
      value === undefined || name === "content-encoding" ? [] : [[name, String(value)] as [string, string]],
    );
    return new Response(NO_BODY.has(status) ? null : bytes, { status, headers: answered });
  }

  async function send(input: Parameters<typeof globalThis.fetch>[0], init: RequestInit = {}): Promise<Response> {
    let url = new URL(input instanceof Request ? input.url : input);
    const method = (init.method ?? "GET").toUpperCase();
    for (let redirects = 0; ; redirects += 1) {
      const response = await sendOnce(url, method, init);
      const location = response.status >= 300 ? response.headers.get("location") : null;
      if (location === null || init.redirect === "manual") return response;
      const next = URL.parse(location, url.href);
      if (next === null || redirects === MAX_REDIRECTS) throw call.refuseGarbage();
      url = next;
    }
  }

  return {
    fetch: async (input, init) => {
      try {
        const response = await send(input, init);
        failure = undefined;
        return response;
      } catch (error) {
        failure = error;
        throw error;
      }
    },
    async run(work) {
      try {
        return await work();
      } catch (error) {
        call.signal.throwIfAborted();
        throw foreign ?? (error instanceof ServiceError ? error : (failure ?? call.refuseGarbage()));
      }
    },
  };
}

/** ICloud keeps each account on a host of its own. */
const ICLOUD = /(?:^|\.)icloud\.com$/;

function isSameHost(url: URL, own: URL): boolean {
  if (url.origin === own.origin) return true;
  return [url, own].every(
    ({ protocol, hostname, port }) => protocol === "https:" && port === "" && ICLOUD.test(hostname),
  );
}
