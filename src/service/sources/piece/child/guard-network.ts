import { type LookupAddress, lookup } from "node:dns";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import { isPublicAddress, isPublicHost } from "../../../fetch/address-rules.ts";
import type { PieceNetwork } from "../piece-messages.ts";

/** `code` of the error a refused connection ends with. */
export const BLOCKED = "ERR_SVC_BLOCKED";

interface Target {
  readonly isTls: boolean;
  readonly host: string;
  readonly port: number;
}

type ConnectOptions = Record<string, unknown>;

/**
 * Puts the rules of {@link PieceNetwork} before every TCP connection of this process, whichever HTTP library opens it,
 * and leads the hosts that have another address there. Call it before a piece is loaded.
 */
export function guardNetwork({ hosts, reach }: PieceNetwork): void {
  const targets = new Map(Object.entries(hosts).map(([host, origin]) => [host.toLowerCase(), readTarget(origin)]));
  const isTarget = (host: string, port: unknown) =>
    [...targets.values()].some((target) => target.host === host && target.port === Number(port));
  const connectPlain = net.Socket.prototype.connect;
  const connectTls = tls.connect;

  const patchedConnect = function (this: net.Socket, ...args: unknown[]): net.Socket {
    const options = readOptions(args);
    const target = this instanceof tls.TLSSocket ? undefined : targets.get(hostOf(options));
    const wanted = target === undefined || target.isTls ? options : { ...options, ...placeOf(target) };
    const host = hostOf(wanted);
    const isFree = reach === "any" || isTarget(host, wanted.port);
    if (!isFree && (reach === "none" || typeof wanted.path === "string" || !isPublicHost(host))) {
      process.nextTick(() => this.destroy(refuse(host)));
      return this;
    }
    const guarded = isFree ? wanted : { ...wanted, lookup: lookUpPublic };
    return Reflect.apply(connectPlain, this, replaceOptions(args, guarded)) as net.Socket;
  };
  net.Socket.prototype.connect = patchedConnect as typeof connectPlain;

  const patchedTls = (...args: unknown[]): net.Socket => {
    const options = readOptions(args);
    const target = options.socket === undefined ? targets.get(hostOf(options)) : undefined;
    if (target === undefined) return Reflect.apply(connectTls, tls, args) as net.Socket;
    const callback = args.findLast((arg) => typeof arg === "function") as (() => void) | undefined;
    if (!target.isTls) return connectUnencrypted(target, callback);
    return connectTls({ ...options, ...placeOf(target), servername: target.host }, callback);
  };
  tls.connect = patchedTls as typeof tls.connect;
  syncBuiltinESMExports();
}

function readTarget(origin: string): Target {
  const { protocol, hostname, port } = new URL(origin);
  const isTls = protocol === "https:";
  return { isTls, host: hostname.replace(/^\[(.*)\]$/, "$1"), port: Number(port || (isTls ? 443 : 80)) };
}

function placeOf({ host, port }: Target): { host: string; port: number } {
  return { host, port };
}

function hostOf({ host }: ConnectOptions): string {
  return typeof host === "string" ? host.toLowerCase() : "localhost";
}

/** The arguments of `connect` in all their forms; Node itself passes a list `[options, callback]`. */
function readOptions([first, second]: readonly unknown[]): ConnectOptions {
  if (Array.isArray(first)) return readOptions(first);
  if (typeof first === "object" && first !== null) return first as ConnectOptions;
  if (typeof first === "string" && !/^\d+$/.test(first)) return { path: first };
  return { port: first, ...(typeof second === "string" && { host: second }) };
}

function replaceOptions(args: unknown[], options: ConnectOptions): unknown[] {
  const [first] = args;
  if (!Array.isArray(first)) return [options, ...args.filter((arg) => typeof arg === "function")];
  // Kept: Node knows its own list by a mark on it.
  first[0] = options;
  return args;
}

/** Looks like an encrypted connection to whoever asked for one. */
function connectUnencrypted(target: Target, callback: (() => void) | undefined): net.Socket {
  const socket = net.connect(placeOf(target));
  Object.assign(socket, { encrypted: true, authorized: true, alpnProtocol: false });
  if (callback !== undefined) socket.once("secureConnect", callback);
  socket.once("connect", () => socket.emit("secureConnect"));
  return socket;
}

function lookUpPublic(
  hostname: string,
  { all }: { all?: boolean },
  callback: (error: Error | null, address: string | LookupAddress[], family?: number) => void,
): void {
  lookup(hostname, { all: true, order: "verbatim" }, (error, addresses) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) callback(error ?? refuse(hostname), []);
    else if (!addresses.every(({ address }) => isPublicAddress(address))) callback(refuse(hostname), []);
    else if (all === true) callback(null, addresses);
    else callback(null, first.address, first.family);
  });
}

function refuse(host: string): Error {
  return Object.assign(new Error(`${host} may not be reached from here.`), { code: BLOCKED });
}
