import { BlockList, isIP } from "node:net";

const NOT_PUBLIC = new BlockList();
for (const [address, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 3],
] as const)
  NOT_PUBLIC.addSubnet(address, prefix, "ipv4");

/** Global unicast IPv6 space; everything outside it is local or special. */
const PUBLIC_V6 = new BlockList();
PUBLIC_V6.addSubnet("2000::", 3, "ipv6");

function isPublicHost(hostname: string): boolean {
  const host = hostname
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "")
    .toLowerCase();
  const family = isIP(host);
  if (family === 4) return !NOT_PUBLIC.check(host, "ipv4");
  if (family === 6) return PUBLIC_V6.check(host, "ipv6");
  return host.includes(".") && !/(?:^|\.)(?:localhost|local|internal)$/.test(host);
}

/** True for an https address whose host could be public. Nothing is resolved or fetched here. */
export function isPublicHttpsUrl(reference: string): boolean {
  const url = URL.parse(reference.trim());
  return url !== null && url.protocol === "https:" && isPublicHost(url.hostname);
}
