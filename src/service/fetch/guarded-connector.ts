import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, buildConnector, type Dispatcher } from "undici";
import type { ServiceError } from "../service-error.ts";
import { isPublicAddress, isPublicHost } from "./address-rules.ts";
import { refuseUrl } from "./url-refusal.ts";

/** Name lookup and connections. Tests replace them; no setting does. */
export interface Network {
  resolve(hostname: string): Promise<readonly LookupAddress[]>;
  /** undici's connector; it must look names up with `options.lookup` only. */
  buildConnector(options: buildConnector.BuildOptions): buildConnector.connector;
}

/** The system's resolver and undici's own connector. */
export const SYSTEM_NETWORK: Network = {
  resolve: (hostname) => lookup(hostname, { all: true, order: "verbatim" }),
  buildConnector,
};

const PORTS: ReadonlySet<string> = new Set(["", "443", "8443"]);

function refuseBlocked(): ServiceError {
  return refuseUrl("media_url_blocked", "leads to an address that is not on the public internet.");
}

/** Why the guarded connector goes nowhere near this address, as far as it itself says; undefined where it may. */
export function judgeTarget(
  { protocol, hostname, port }: Pick<buildConnector.Options, "protocol" | "hostname" | "port">,
  anyPort = false,
): ServiceError | undefined {
  if (!isPublicHost(hostname)) return refuseBlocked();
  if (protocol !== "https:") return refuseUrl("media_url_invalid", "does not use https, or a redirect of it does not.");
  if (!anyPort && !PORTS.has(port)) return refuseUrl("media_url_invalid", "uses a port other than 443 and 8443.");
  return undefined;
}

/**
 * A lookup for `net.connect` that answers with every address of a name, or refuses when one of them is not public. The
 * socket connects to exactly the addresses that were checked, so a name that changes its mind gains nothing.
 */
function createGuardedLookup(resolve: Network["resolve"]): LookupFunction {
  return (hostname, { all }, callback) => {
    findPublicAddresses(resolve, hostname).then(
      ([first, ...others]) =>
        all === true ? callback(null, [first, ...others]) : callback(null, first.address, first.family),
      (error: Error) => callback(error, ""),
    );
  };
}

async function findPublicAddresses(
  resolve: Network["resolve"],
  hostname: string,
): Promise<[LookupAddress, ...LookupAddress[]]> {
  const [first, ...others] = await resolve(hostname);
  if (first === undefined) throw Object.assign(new Error("The name has no address."), { code: "ENOTFOUND" });
  if (![first, ...others].every(({ address }) => isPublicAddress(address))) throw refuseBlocked();
  return [first, ...others];
}

/**
 * A connector that reaches public hosts over TLS and nothing else. It checks the host as written (IP literals are never
 * looked up), the port, every address of the name, and at last the address the socket really has. Redirects pass it
 * again, because every request opens its own connection.
 *
 * @param o.anyPort true for an address that the owner named; default false: 443 and 8443.
 *
 * Fails with ServiceError `media_url_blocked` or `media_url_invalid`.
 */
export function createGuardedConnector(
  network: Network,
  timeoutMs: number,
  { anyPort = false }: { readonly anyPort?: boolean } = {},
): buildConnector.connector {
  const connect = network.buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: createGuardedLookup(network.resolve),
  });
  return (target, callback) => {
    const refusal = judgeTarget(target, anyPort);
    if (refusal !== undefined) {
      queueMicrotask(() => callback(refusal, null));
      return;
    }
    connect(target, (...[error, socket]) => {
      if (error !== null) return callback(error, null);
      const { remoteAddress } = socket;
      if (remoteAddress !== undefined && isPublicAddress(remoteAddress)) {
        return callback(null, socket);
      }
      socket.destroy();
      callback(refuseBlocked(), null);
    });
  };
}

const CONNECT_MS = 10_000;
const CLOSE_MS = 5_000;

/** Connections to an added app over HTTP. */
export type AppAgent = ReturnType<typeof createAppAgent>;

/**
 * @param o.isPrivate the owner said that the address may be one of a private network, and without encryption. Otherwise
 * only public addresses are reached, checked after each lookup.
 * @param o.silenceMs longest silence of the app in milliseconds; 0 means no limit.
 */
export function createAppAgent(o: { readonly isPrivate: boolean; readonly silenceMs: number }) {
  const connect = o.isPrivate
    ? { timeout: CONNECT_MS }
    : createGuardedConnector(SYSTEM_NETWORK, CONNECT_MS, { anyPort: true });
  const agent = new Agent({ headersTimeout: o.silenceMs, bodyTimeout: o.silenceMs, connect });
  return {
    dispatcher: agent as Dispatcher,
    /** Lets requests in flight end, for at most five seconds. */
    async close(): Promise<void> {
      const timer = setTimeout(() => void agent.destroy(), CLOSE_MS);
      await agent.close().catch(() => {});
      clearTimeout(timer);
    },
  };
}
