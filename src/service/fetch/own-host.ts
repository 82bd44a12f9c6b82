import { isIP } from "node:net";
import type { AllowedHosts } from "./allowed-hosts.ts";

/** True for a host that may be reached without encryption: of this machine, or one that the owner allowed by name. */
export function isOwnHost(url: URL, allowed: AllowedHosts | undefined): boolean {
  const { hostname } = url;
  const isLoopback =
    hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."));
  return isLoopback || allowed?.has(url) === true;
}
