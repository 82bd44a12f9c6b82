import { createHash } from "node:crypto";
import type { Dispatcher } from "undici";
import { SvcError } from "../errors.ts";
import type { AccessTokenSource } from "./access-token.ts";
import { parseBaseUrl } from "./base-url.ts";
import { checkReplyLimit, checkTimeout } from "./check-limits.ts";
import type { ProxySettings } from "./create-dispatcher.ts";
import { type Sleep, sleepFor } from "./pause.ts";
import type { TransportParts } from "./transport.ts";

/** Settings of a {@link SvcClient}. */
export interface SvcClientOptions {
  /** Where the service is: https, or http on a loopback host. A path prefix is kept. */
  readonly baseUrl: string;
  /** Needed by every call but the server card, pairing and bootstrap ("Authentication" 1). */
  readonly apiKey?: string | undefined;
  /**
   * An OAuth sign-in, used when there is no key. It is good for the MCP endpoint only ("Authentication" 4), so tools are
   * then found and run through that one; flows, files and other accounts than the default one need a key.
   */
  readonly accessToken?: AccessTokenSource | undefined;
  /** Default limit of one call in milliseconds, 1 to 24 days; 60,000. */
  readonly timeoutMs?: number | undefined;
  /** Largest JSON answer in bytes; 16 MiB. */
  readonly maxReplyBytes?: number | undefined;
  readonly userAgent?: string | undefined;
  /** Accept http for hosts other than loopback. Default false. */
  readonly allowInsecure?: boolean | undefined;
  /** Proxies to go through. Default none: the environment is not read. */
  readonly proxy?: ProxySettings | undefined;
  /** Used instead of an agent of the client's own; `close` leaves it open. */
  readonly dispatcher?: Dispatcher | undefined;
  readonly sleep?: Sleep | undefined;
  readonly random?: (() => number) | undefined;
  readonly now?: (() => number) | undefined;
}

/** What a client proves itself with. */
export type ClientCredential = "api_key" | "oauth" | "none";

/** Checked settings: what a transport is made of, and who the client is. */
interface ClientSettings extends Omit<TransportParts, "dispatcher"> {
  readonly credential: ClientCredential;
  /** Non-secret name of base URL and key or sign-in: 16 hex digits, or `anonymous`. */
  readonly principal: string;
}

/**
 * Checks the settings of a client and fills in the defaults.
 *
 * @throws SvcError `invalid_config` naming the wrong setting
 */
export function readClientOptions(options: SvcClientOptions): ClientSettings {
  const baseUrl = parseBaseUrl(options.baseUrl, options.allowInsecure);
  const apiKey = readApiKey(options.apiKey);
  const accessToken = checkSignIn(options.accessToken, baseUrl);
  return {
    baseUrl,
    apiKey,
    accessToken,
    credential: apiKey !== undefined ? "api_key" : accessToken !== undefined ? "oauth" : "none",
    principal: createPrincipal(baseUrl, apiKey ?? accessToken?.signInId),
    timeoutMs: checkTimeout(options.timeoutMs ?? 60_000),
    maxReplyBytes: checkReplyLimit(options.maxReplyBytes ?? 16 * 1024 * 1024),
    userAgent: options.userAgent ?? "svc-agent-plugin",
    sleep: options.sleep ?? sleepFor,
    random: options.random ?? Math.random,
    now: options.now ?? Date.now,
  };
}

function readApiKey(text: string | undefined): string | undefined {
  const key = text?.trim() ?? "";
  if (key === "") return undefined;
  if (/^[\x21-\x7e]+$/.test(key)) return key;
  throw new SvcError("invalid_config", "The API key holds characters that no key has, such as spaces or line breaks.", {
    field: "apiKey",
    hint: "Copy the key again, or pair this device anew.",
    sent: false,
  });
}

/** A token is sent only to the service that it was given by. */
function checkSignIn(source: AccessTokenSource | undefined, baseUrl: string): AccessTokenSource | undefined {
  if (source === undefined || source.baseUrl === baseUrl) return source;
  throw new SvcError("invalid_config", `The sign-in belongs to ${source.baseUrl}, not to ${baseUrl}.`, {
    field: "accessToken",
    hint: "Sign in to this service, or use the address that was signed in to.",
    sent: false,
  });
}

function createPrincipal(baseUrl: string, credential: string | undefined): string {
  if (credential === undefined) return "anonymous";
  return createHash("sha256").update(`${baseUrl}\n${credential}`).digest("hex").slice(0, 16);
}
