import { isIP } from "node:net";
import type { Context } from "hono";
import type { PasskeySite } from "../auth/passkeys/answers.ts";
import { isLoopbackName } from "../fetch/address-rules.ts";
import type { RouteEnv } from "./request.ts";
import type { ServiceParts } from "./service-parts.ts";

/**
 * Where the passkeys of a request belong, by the name it was sent to, which is one of ours; undefined where no browser
 * has any: at a bare IP address, and over http on anything but localhost.
 */
export function findPasskeySite(c: Context<RouteEnv>, { baseUrl }: Pick<ServiceParts, "baseUrl">) {
  const host = c.req.header("host")?.toLowerCase() ?? "";
  const known = new URL(baseUrl);
  return readSite(host === known.host ? known : new URL(`http://${host}`));
}

function readSite({ protocol, hostname, origin }: URL): PasskeySite | undefined {
  const isName = isIP(hostname) === 0 && !hostname.startsWith("[");
  const isLocal = hostname === "localhost" || hostname.endsWith(".localhost");
  return isName && (protocol === "https:" || isLocal) ? { origin, rpId: hostname } : undefined;
}

/** Why there are no passkeys at this address, and what to do. */
export function explainNoSite(c: Context<RouteEnv>, { baseUrl }: Pick<ServiceParts, "baseUrl">): string {
  const { protocol, hostname, port } = new URL(baseUrl);
  const isHere = protocol === "http:" && isLoopbackName(hostname);
  const where = isHere
    ? `open http://localhost:${port} in its place, and sign in there`
    : "put TLS and a domain name in front of the service, and name them with --public-url";
  return `Browsers offer no passkeys at ${c.req.header("host") ?? "this address"}: ${where}.`;
}
