import { BlockList, isIP } from "node:net";
import { SvcError } from "../../shared/errors.ts";

type Subnets = readonly (readonly [address: string, prefix: number])[];

function listSubnets(family: "ipv4" | "ipv6", subnets: Subnets): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of subnets) list.addSubnet(address, prefix, family);
  return list;
}

/** Everything the IANA registry keeps from the public, and two public addresses that only mean something inside a cloud. */
const SPECIAL_V4 = listSubnets("ipv4", [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["168.63.129.16", 32],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.31.196.0", 24],
  ["192.52.193.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["192.175.48.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
]);

/** Global unicast space. What lies outside is local, special or not given out; new special blocks start closed. */
const GLOBAL_V6 = listSubnets("ipv6", [["2000::", 3]]);

/** Special blocks inside {@link GLOBAL_V6}: tunnels that hide an IPv4 address, documentation, old test networks. */
const SPECIAL_V6 = listSubnets("ipv6", [
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["2620:4f:8000::", 48],
  ["3ffe::", 16],
  ["3fff::", 20],
]);

/** The IPv4 address inside an IPv4-mapped IPv6 one, which a dual-stack socket connects to. */
function unmap(address: string): string | undefined {
  const canonical = URL.parse(`http://[${address}]/`)?.hostname ?? "";
  const [, high, low] = /^\[::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})\]$/.exec(canonical) ?? [];
  if (high === undefined || low === undefined) return undefined;
  const pair = [high, low].map((part) => Number.parseInt(part, 16));
  return pair.flatMap((part) => [part >> 8, part & 255]).join(".");
}

/** True for an IP address (no brackets, no zone) that belongs to the public internet; false for anything else. */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !SPECIAL_V4.check(address, "ipv4");
  if (family !== 6 || address.includes("%")) return false;
  const mapped = unmap(address);
  if (mapped !== undefined) return !SPECIAL_V4.check(mapped, "ipv4");
  return GLOBAL_V6.check(address, "ipv6") && !SPECIAL_V6.check(address, "ipv6");
}

const LOCAL_NAMES = /(?:^|\.)(?:localhost|local|localdomain|internal|intranet|lan|home|corp|private|home\.arpa|onion)$/;

/**
 * True when a host of a URL, as `URL.hostname` spells it, may be looked up or connected to: a public IP literal, or a
 * name of at least two labels that is not reserved for local use. Where a name leads is for {@link isPublicAddress}.
 */
export function isPublicHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[(.*)\]$/, "$1")
    .replace(/\.+$/, "")
    .toLowerCase();
  if (isIP(host) !== 0) return isPublicAddress(host);
  return host.includes(".") && !LOCAL_NAMES.test(host);
}

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

/** True for a host of a URL, as `URL.hostname` spells it, that cannot leave this machine. */
export function isLoopbackName(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || (isIP(hostname) === 4 && hostname.startsWith("127."));
}

/** True for a host that may be reached without encryption: of this machine, or one that the owner allowed by name. */
export function isOwnHost(url: URL, allowed: AllowedHosts | undefined): boolean {
  return isLoopbackName(url.hostname) || allowed?.has(url) === true;
}
