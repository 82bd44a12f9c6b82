import { isIP } from "node:net";
import { resolve } from "node:path";
import { createBuiltInIntegrations } from "../apps/built-in.ts";
import type { Integration } from "../apps/port/integration.ts";
import { SvcError } from "../shared/errors.ts";
import { type AllowedHosts, isLoopbackName, readAllowedHosts } from "./fetch/address-rules.ts";
import { readFilesPlace, type S3Place } from "./files/files-place.ts";
import { systemElapsed } from "./health/watch-clock.ts";
import { readTrustedProxies, type TrustedProxies } from "./http/caller-address.ts";
import { type NotifyTarget, readTargets, type Target } from "./notify/targets.ts";
import { checkOptionRules } from "./option-rules.ts";
import type { ServiceLog } from "./service-error.ts";
import { createTrace, type OpenTelemetryApi, type Trace, traceNothing } from "./telemetry/telemetry.ts";

/** How to run the service. Options that do not exist, and values that cannot be, are refused at the start. */
export interface ServiceOptions {
  /**
   * Folder for everything the service keeps; made with mode 0700, and one that was there is brought to it where that can
   * be done. One process serves it at a time.
   */
  readonly dataDir: string;
  /**
   * Address of a PostgreSQL database that any number of processes may share, e.g. `postgres://svc@db.example.org/svc`.
   * Each needs a `dataDir` of its own, and the same `secretKey`, `publicUrl` and `files`. Default: a SQLite file in
   * `dataDir`. Needs the package `pg`.
   */
  readonly database?: string;
  /**
   * Where files are kept: a folder that every process on one database sees, or a bucket of an S3-compatible store.
   * Default: `dataDir`, which is right for one process only. The apps that a first start connects get their folders
   * here too, when it is a folder.
   */
  readonly files?: string | S3Place;
  /**
   * Milliseconds between two heartbeats in a shared database; a process that misses three is dead. From 10 to 3,600,000,
   * default 5,000.
   */
  readonly heartbeatMs?: number;
  /** Default 8790; 0 takes a free one. */
  readonly port?: number;
  /** Address to listen on; default 127.0.0.1. Any other than loopback needs `publicUrl`. */
  readonly host?: string;
  /** Origin under which callers and browsers reach the service, e.g. `https://svc.example.org`. Default: the loopback address. */
  readonly publicUrl?: string;
  /**
   * Proxies in front of the service, each an IP address or a block such as `10.0.0.0/8`: what they say in `Forwarded` or
   * `X-Forwarded-For` is believed, so that pages show the address of the caller and not theirs. Default: none.
   */
  readonly trustProxy?: readonly string[];
  /** False ignores bytes in the `files` envelope, so that callers must upload through a hint. Default true. */
  readonly fileEnvelopes?: boolean;
  /**
   * Hosts of yours, each `HOST:PORT`, that files may be fetched from by URL although they are not public; over http too.
   * Default: none, so that only public https addresses are fetched.
   */
  readonly allowHosts?: readonly string[];
  /**
   * Text of at least 32 characters that signs upload tokens. Default: made once and kept in `dataDir`, or encrypted in a
   * shared `database`; null turns ingest off (503).
   */
  readonly ingestSecret?: string | null;
  /**
   * Text of at least 32 characters from which the key for secrets of connections is derived; the same for every process
   * on one database. Default: a key is made once and kept in `dataDir`.
   */
  readonly secretKey?: string;
  /** Executions per account and UTC day; above, calls answer 402. Default: no limit. */
  readonly usageLimit?: number;
  /**
   * Days that the log of executions and flows that ended are kept; null or 0 keeps them for ever. What runs or waits, and
   * what an idempotency key stands for, stays in any case. Default 90.
   */
  readonly retentionDays?: number | null;
  /**
   * Space in the database for what undoing needs, in megabytes: above it, the oldest is forgotten within the hour. 0 keeps
   * nothing, and nothing can be undone. Default 1,000.
   */
  readonly undoMegabytes?: number;
  /**
   * Seconds between the yes to a mail and its sending, 0 to 60, in which it can be stopped; a mail account may say otherwise.
   * Default 0.
   */
  readonly sendDelay?: number;
  /**
   * Milliseconds an action may take before the call fails with 503, and a stop waits for those that run. From 1 to
   * 86,400,000, default 60,000.
   */
  readonly providerTimeoutMs?: number;
  /**
   * Who may approve a step of a flow: any API key, as the API document says, or only the owner in the dashboard.
   * Default `api`.
   */
  readonly flowApprovals?: "api" | "dashboard";
  /**
   * Who approves calls that need it. `device`: a paired device confirms for itself, as the API document says; the owner
   * can change that for each, and MCP clients that sign in need the owner. `owner`: every such call waits in the inbox
   * for the owner, and a confirmation in a call counts for nothing. Default `device`.
   */
  readonly approvals?: "device" | "owner";
  /**
   * Where the owner is told of requests for an approval: `ntfy:https://HOST/TOPIC`, `webhook:https://HOST/PATH` (needs a
   * secret), `mail:ADDRESS` or `mail:CONNECTION:ADDRESS` (through a connected mail account). Default: nowhere.
   */
  readonly notify?: readonly NotifyTarget[];
  /** True puts the arguments of calls into notes too, shortened. Default false. */
  readonly notifyArguments?: boolean;
  /** Text of at least 32 characters that lets `GET /metrics` be read (`Authorization: Bearer`). Default: there are no metrics. */
  readonly metricsToken?: string;
  /**
   * The module `@opentelemetry/api` of this process: spans of requests, executions and calls of providers go where its SDK
   * sends them. Default: no spans.
   */
  readonly openTelemetry?: OpenTelemetryApi;
  /**
   * True gives `log` an entry for every request, too: method, path without secrets and query, status, milliseconds, and the
   * beginning of the id of its key. Default false.
   */
  readonly accessLog?: boolean;
  /** Apps the service can act on. Default: drive, notes, mail, calendar, contacts and feeds. */
  readonly integrations?: readonly Integration[];
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: () => number;
  /**
   * Milliseconds since any moment, by a clock that nobody can set and that goes on while the machine sleeps: beside it a
   * `now` that jumps is seen. Default: the time since the machine started; none when `now` is given.
   */
  readonly elapsed?: () => number;
  /** Default: nothing is logged. */
  readonly log?: ServiceLog;
}

const DEFAULT_PORT = 8790;
const DEFAULT_UNDO_MEGABYTES = 1000;
const DEFAULT_RETENTION_DAYS = 90;
const DEFAULT_HEARTBEAT_MS = 5000;
const DEFAULT_PROVIDER_TIMEOUT_MS = 60_000;

const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** Options with defaults, checked. */
export interface CheckedOptions extends Omit<ServiceOptions, "elapsed"> {
  readonly port: number;
  readonly host: string;
  readonly heartbeatMs: number;
  readonly providerTimeoutMs: number;
  /** 0: for ever. */
  readonly retentionDays: number;
  readonly undoMegabytes: number;
  readonly files: string | S3Place;
  readonly publicOrigin: string | undefined;
  readonly allowedFileHosts: AllowedHosts;
  readonly trustedProxies: TrustedProxies;
  readonly noteTargets: readonly Target[];
  readonly trace: Trace;
  readonly integrations: readonly Integration[];
  readonly now: () => number;
  readonly elapsed: (() => number) | undefined;
  readonly log: ServiceLog;
}

/** @throws SvcError `invalid_config` naming the option. */
export function checkOptions(options: ServiceOptions): CheckedOptions {
  checkOptionRules(options);
  const { port = DEFAULT_PORT, host = "127.0.0.1", retentionDays = DEFAULT_RETENTION_DAYS } = options;
  const publicOrigin = options.publicUrl === undefined ? undefined : new URL(options.publicUrl).origin;
  if (!isLoopback(host) && publicOrigin === undefined) {
    const why = `${host} is reachable from other machines, so the service must know its public address.`;
    throw new SvcError("invalid_config", why, {
      field: "publicUrl",
      hint: "Set publicUrl (--public-url) to the origin that callers use, for example https://svc.example.org, or listen on 127.0.0.1.",
    });
  }
  const allowedFileHosts = readAllowedHosts(options.allowHosts ?? []);
  return {
    ...options,
    dataDir: resolve(options.dataDir),
    port,
    host,
    heartbeatMs: options.heartbeatMs ?? DEFAULT_HEARTBEAT_MS,
    providerTimeoutMs: options.providerTimeoutMs ?? DEFAULT_PROVIDER_TIMEOUT_MS,
    retentionDays: retentionDays ?? 0,
    undoMegabytes: options.undoMegabytes ?? DEFAULT_UNDO_MEGABYTES,
    files: readFilesPlace(options.files ?? options.dataDir),
    publicOrigin,
    allowedFileHosts,
    trustedProxies: readTrustedProxies(options.trustProxy ?? []),
    noteTargets: readTargets(options.notify ?? []),
    trace: options.openTelemetry === undefined ? traceNothing : createTrace(options.openTelemetry),
    integrations:
      options.integrations ??
      createBuiltInIntegrations({ allowed: allowedFileHosts, sendDelay: options.sendDelay ?? 0 }),
    now: options.now ?? Date.now,
    elapsed: options.elapsed ?? (options.now === undefined ? systemElapsed : undefined),
    log: guardLog(options.log),
  };
}

/** Warns of a public address that others can read along. */
export function warnOfPlainAddress({ publicOrigin, log }: CheckedOptions): void {
  const url = publicOrigin === undefined ? null : new URL(publicOrigin);
  if (url?.protocol !== "http:" || isLoopbackName(url.hostname)) return;
  const why =
    "keys, sign-ins and files cross the network in clear, svc pairs with no such address, and browsers have no passkeys there";
  const advice = "Put a proxy with TLS in front of the service, and give publicUrl (--public-url) its https address.";
  log({ level: "warn", message: `The public address ${publicOrigin} is not encrypted: ${why}. ${advice}` });
}

/** A log that throws or rejects must not stop the service. */
function guardLog(log: ServiceLog = () => {}): ServiceLog {
  const write = async (entry: Parameters<ServiceLog>[0]) => log(entry);
  return (entry) => void write(entry).catch(() => {});
}

/** Origin of a service that listens here and has no public address. */
export function toLocalOrigin(host: string, port: number): string {
  return `http://${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

/** Every `Host` header that means this service. */
export function listHosts({ host, publicOrigin }: CheckedOptions, port: number): Set<string> {
  // Only there: an address with the name of a network device, such as fe80::1%eth0, is none that a URL can have.
  const own = isLoopback(host) ? [new URL(toLocalOrigin(host, port)).hostname] : [];
  const hosts = new Set([...LOOPBACK_NAMES, ...own].map((name) => `${name}:${port}`));
  // Port 80 is left out of the header.
  if (port === 80) for (const name of LOOPBACK_NAMES) hosts.add(name);
  if (publicOrigin !== undefined) hosts.add(new URL(publicOrigin).host);
  return hosts;
}

function isLoopback(host: string): boolean {
  return host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."));
}
