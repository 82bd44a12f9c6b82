import type { IncomingMessage } from "node:http";
import { BlockList, isIP } from "node:net";
import { SvcError } from "../../shared/errors.ts";

/** Addresses of proxies whose word about their callers counts. */
export interface TrustedProxies {
  has(address: string): boolean;
}

/**
 * Reads addresses of proxies, each an IP address or a block such as `10.0.0.0/8`.
 *
 * @throws SvcError `invalid_config` naming the entry.
 */
export function readTrustedProxies(entries: readonly string[]): TrustedProxies {
  const list = new BlockList();
  for (const entry of entries) addEntry(list, entry.trim());
  return {
    has(address) {
      const family = familyOf(address);
      return family !== undefined && list.check(address, family);
    },
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [address = "", length, ...rest] = entry.split("/");
  const family = familyOf(address);
  const bits = family === "ipv4" ? 32 : 128;
  const prefix = length === undefined ? bits : Number(length);
  if (family === undefined || rest.length > 0 || !/^\d{1,3}$/.test(length ?? "0") || prefix > bits) {
    throw new SvcError("invalid_config", `trustProxy: "${entry}" is not an IP address or a block of them.`, {
      field: "trustProxy",
      hint: "Use the address that the proxy connects from, for example 127.0.0.1, ::1 or 10.0.0.0/8.",
    });
  }
  list.addSubnet(address, prefix, family);
}

function familyOf(address: string): "ipv4" | "ipv6" | undefined {
  const family = isIP(address);
  return family === 0 || address.includes("%") ? undefined : family === 4 ? "ipv4" : "ipv6";
}

/**
 * Network address that a request came from. Of a proxy that is trusted, the last address in its header that is not
 * itself a trusted proxy: what stands before it was sent by the caller. Other callers' headers count for nothing.
 */
export function readCallerAddress(
  {
    socket,
    headers,
  }: Pick<IncomingMessage, "headers"> & { readonly socket: { readonly remoteAddress?: string | undefined } },
  trusted: TrustedProxies,
): string {
  const peer = plain(socket.remoteAddress ?? "unknown");
  if (!trusted.has(peer)) return peer;
  const told = [readForwarded(headers.forwarded), readList(headers["x-forwarded-for"])].flatMap((chain) =>
    chain === undefined ? [] : [findCaller(chain, peer, trusted)],
  );
  // A proxy writes one of the two and hands on the other as its caller sent it: when they differ, none can be believed.
  const [caller = peer] = told;
  return told.every((one) => one === caller) ? caller : peer;
}

function findCaller(chain: readonly string[], peer: string, trusted: TrustedProxies): string {
  let last = peer;
  for (const hop of chain.toReversed()) {
    const address = readHop(hop);
    if (address === undefined) return last;
    last = address;
    if (!trusted.has(address)) return address;
  }
  return last;
}

/** Addresses of a `X-Forwarded-For` header, in order; undefined without one. */
function readList(header: string | readonly string[] | undefined): string[] | undefined {
  return header === undefined ? undefined : String(header).split(",");
}

/** The `for` of each part of a `Forwarded` header (RFC 7239), in order; undefined without one. */
function readForwarded(header: string | undefined): string[] | undefined {
  return header?.split(",").map((part) => /(?:^|;)\s*for="?([^";]*)/i.exec(part)?.[1] ?? "");
}

/** An address with or without a port and brackets; undefined for a name, as `unknown`. */
function readHop(text: string): string | undefined {
  const hop = text.trim();
  const bare = /^\[([^\]]*)\](?::\d+)?$/.exec(hop)?.[1] ?? /^(\d+(?:\.\d+){3}):\d+$/.exec(hop)?.[1] ?? hop;
  const address = plain(bare.toLowerCase());
  return familyOf(address) === undefined ? undefined : address;
}

/** An IPv4 address as such, also where a socket for both kinds of addresses tells it. */
function plain(address: string): string {
  return address.replace(/^::ffff:(?=\d+\.)/i, "");
}
