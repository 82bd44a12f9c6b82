import { checkNumbers, countFrom, WAIT_BOUNDS } from "../../shared/base/check-settings.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { SvcError } from "../../shared/errors.ts";
import { parseBaseUrl } from "./base-url.ts";
import type { HttpDispatcher } from "./request.ts";
import { type RetryTools, type Sleep, sleepFor } from "./retry.ts";

/** Settings of a `SvcClient`. */
export interface SvcClientOptions {
  /** Where the service is: https, or http on a loopback host. A path prefix is kept. */
  readonly baseUrl: string;
  /** Needed by every call but the server card, pairing and bootstrap ("Authentication" 1). */
  readonly apiKey?: string | undefined;
  /** Name of an account that an earlier key stood for too: what was kept under it counts on. Default: of address and key. */
  readonly principal?: string | undefined;
  /** Default limit of one call in milliseconds, 1 to 24 days; 75,000. */
  readonly timeoutMs?: number | undefined;
  /** Largest JSON answer in bytes; 16 MiB. */
  readonly maxReplyBytes?: number | undefined;
  /** Default `svc-agent-plugin`. */
  readonly userAgent?: string | undefined;
  /** Accept http for hosts other than loopback. Default false. */
  readonly allowInsecure?: boolean | undefined;
  /** Proxies to go through. Default none: the environment is not read. */
  readonly proxy?: ProxySettings | undefined;
  /** An undici agent, used instead of one of the client's own; `close` leaves it open. */
  readonly dispatcher?: HttpDispatcher | undefined;
  /** Waits between two tries. Default: a timer. */
  readonly sleep?: Sleep | undefined;
  /** From 0 up to 1, for the waits between tries. Default `Math.random`. */
  readonly random?: (() => number) | undefined;
  /** Milliseconds since the epoch. Default `Date.now`. */
  readonly now?: (() => number) | undefined;
}

/** Checked settings of a client, with the defaults filled in. */
export interface ClientSettings extends RetryTools {
  /** Origin and path, no trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string | undefined;
  readonly timeoutMs: number;
  readonly maxReplyBytes: number;
  readonly userAgent: string;
  /** `anonymous` without a key. */
  readonly principal: string;
}

/** Longer than a service waits for an app, so that its answer says which app gave none. */
const DEFAULT_TIMEOUT_MS = 75_000;

/** Non-secret name of a service and a key: 16 hex digits. The key has far more random bits. */
export function namePrincipal(baseUrl: string, apiKey: string): string {
  return sha256Hex(`${baseUrl}\n${apiKey}`).slice(0, 16);
}

/**
 * Checks the settings of a client and fills in the defaults.
 *
 * @throws SvcError `invalid_config` naming the wrong setting, `unsupported` on Bun and on a Node that is too old
 */
export function readClientOptions(options: SvcClientOptions): ClientSettings {
  checkRuntime(process.versions);
  const baseUrl = parseBaseUrl(options.baseUrl, options.allowInsecure);
  checkNumbers(options, { timeoutMs: WAIT_BOUNDS, maxReplyBytes: { ...countFrom(1), max: Number.MAX_SAFE_INTEGER } });
  const apiKey = readApiKey(options.apiKey);
  return {
    baseUrl,
    apiKey,
    principal: apiKey === undefined ? "anonymous" : (options.principal ?? namePrincipal(baseUrl, apiKey)),
    timeoutMs: options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
    maxReplyBytes: options.maxReplyBytes ?? 16 * 1024 * 1024,
    userAgent: options.userAgent ?? "svc-agent-plugin",
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  };
}

/** Deno names the Node version that it is like. Bun answers the import of undici with a stand-in that sends nothing. */
function checkRuntime({ node, bun }: NodeJS.ProcessVersions): void {
  const [major = 0, minor = 0] = node.split(".").map(Number);
  const isNew = major > 22 || (major === 22 && minor >= 19);
  if (isNew && bun === undefined) return;
  const found = bun === undefined ? `Node ${node}` : `Bun ${bun}`;
  throw new SvcError("unsupported", `svc-agent-plugin needs Node 22.19 or newer, and this is ${found}.`, {
    hint: "Run the program with a newer Node, or with Deno.",
    sent: false,
  });
}

function readApiKey(text: string | undefined): string | undefined {
  const key = text?.trim() ?? "";
  if (key === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SvcError("invalid_config", "The API key holds characters that no key has, such as spaces or line breaks.", {
    field: "apiKey",
    hint: "Copy the key again, or pair this device again.",
    sent: false,
  });
}

/** Proxies as the usual environment variables name them. This room never reads the environment itself. */
export interface ProxySettings {
  readonly httpProxy?: string | undefined;
  readonly httpsProxy?: string | undefined;
  /** Hosts that are reached directly, separated by commas. */
  readonly noProxy?: string | undefined;
}
