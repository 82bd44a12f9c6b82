import { lookup } from "node:dns";
import type { LookupFunction } from "node:net";
import { Agent, type Dispatcher, EnvHttpProxyAgent } from "undici";
import { SvcError } from "../../shared/errors.ts";
import { isLoopbackHost } from "./base-url.ts";
import type { ProxySettings } from "./client-options.ts";

const CONNECT_TIMEOUT_MS = 10_000;

/** An idle connection is used no longer, whatever the service says: it may close one just when a write is sent. */
const MAX_IDLE_MS = 30_000;

/** Resolves `svc.localhost` as `localhost`: a name server could send it, and the key, to another machine. */
const lookUpLoopback: LookupFunction = (_name, options, done) => lookup("localhost", options, done);

/**
 * An agent of our own, so that neither the host's global dispatcher nor Node's built-in copy of undici has a say.
 * HTTP/1.1 only: with it "the request was about to be written" is exact. A loopback service is never proxied.
 *
 * @throws SvcError `invalid_config` with field `proxy`
 */
export function createDispatcher(baseUrl: string, proxy?: ProxySettings): Dispatcher {
  // The time for answers is limited per request, uploads included; these would count a slow upload as silence.
  const limits = { headersTimeout: 0, bodyTimeout: 0, allowH2: false, keepAliveMaxTimeout: MAX_IDLE_MS };
  const connect = { timeout: CONNECT_TIMEOUT_MS };
  if (isLoopbackHost(new URL(baseUrl).hostname))
    return new Agent({ ...limits, connect: { ...connect, lookup: lookUpLoopback } });
  if (proxy === undefined) return new Agent({ ...limits, connect });
  try {
    // Empty strings, because undici reads the environment for undefined settings.
    return new EnvHttpProxyAgent({
      ...limits,
      connect,
      httpProxy: proxy.httpProxy ?? "",
      httpsProxy: proxy.httpsProxy ?? "",
      noProxy: proxy.noProxy ?? "",
    });
  } catch {
    throw new SvcError("invalid_config", "A proxy setting is not a valid address.", {
      field: "proxy",
      hint: "Write it as http://host:port.",
      sent: false,
    });
  }
}
