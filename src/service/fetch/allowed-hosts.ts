import { isIP } from "node:net";
import { SvcError } from "../../errors.ts";

/** Hosts of the owner that files may be fetched from although they are not public, over http too. */
export interface AllowedHosts {
  /** True when host and port of `url` are exactly those of an entry. */
  has(url: URL): boolean;
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { "http:": "80", "https:": "443" };

function invalid(entry: string): SvcError {
  return new SvcError("invalid_config", `allowHosts: "${entry}" is not a host with a port.`, {
    field: "allowHosts",
    hint: "Use the form HOST:PORT, for example files.example.org:8443, 192.168.1.5:80 or [fd00::5]:8080.",
  });
}

function readEntry(entry: string): string {
  const [, host, port] = /^([^\s/?#@\\*]+):(\d{1,5})$/.exec(entry.trim()) ?? [];
  const url = host === undefined ? null : URL.parse(`http://${host}/`);
  const number = Number(port);
  if (url === null || url.port !== "" || number < 1 || number > 65_535) throw invalid(entry);
  return `${url.hostname}:${number}`;
}

/**
 * Reads entries of the form `HOST:PORT`; a port is required, a wildcard does not exist.
 *
 * @throws SvcError `invalid_config` naming the entry.
 */
export function readAllowedHosts(entries: readonly string[]): AllowedHosts {
  const hosts = new Set(entries.map(readEntry));
  return {
    has: ({ protocol, hostname, port }) => hosts.has(`${hostname}:${port === "" ? DEFAULT_PORTS[protocol] : port}`),
  };
}

/** True for a host that may be reached without encryption: of this machine, or one that the owner allowed by name. */
export function isOwnHost(url: URL, allowed: AllowedHosts | undefined): boolean {
  const { hostname } = url;
  const isLoopback =
    hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."));
  return isLoopback || allowed?.has(url) === true;
}
