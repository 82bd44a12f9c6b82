import { setImmediate as nextTurn } from "node:timers/promises";
import type { HttpBindings } from "@hono/node-server";
import type { MiddlewareHandler } from "hono";
import { parseExactly } from "../../shared/base/exact-number.ts";
import { isRecord } from "../../shared/base/json.ts";
import type { AccessView } from "../access/access-view.ts";
import type { KeyProblem, Principal } from "../auth/api-keys.ts";
import { keyExpired } from "../auth/grants.ts";
import { readBody } from "../fetch/read-body.ts";
import {
  type BodyRate,
  createValueGuard,
  DEFAULT_BODY_RATE,
  guardBodyRate,
  isTooDeep,
  MAX_JSON_DEPTH,
} from "../files/body-limits.ts";
import { refuseBare, ServiceError } from "../service-error.ts";
import { readBodyPieces } from "./body-pieces.ts";
import type { ServiceParts } from "./service-parts.ts";

/** The context of handlers. */
export interface RouteEnv {
  Bindings: HttpBindings & {
    /** The path that decides which route answers, where it was looked for already. */
    routePath?: string;
  };
  Variables: { principal: Principal; view: AccessView };
}

/**
 * Answers only requests addressed to this service by name. A web page whose own name was re-pointed at this
 * machine (DNS rebinding) arrives with a foreign `Host`.
 */
export function guardHost(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return (c, next) => {
    const host = c.req.header("host")?.toLowerCase();
    if (host === undefined || !parts.allowedHosts.has(host)) {
      // Who looks for it under an old name learns the new one, which proves itself before a key is sent there.
      const advice = `A paired device follows it with: svc move ${parts.baseUrl}`;
      throw refuseBare(400, "wrong_host", `This service answers only under ${parts.baseUrl}. ${advice}`);
    }
    return next();
  };
}

/** Refuses state-changing requests that a browser sends on behalf of another site. */
export function guardOrigin(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return (c, next) => {
    if (c.req.method !== "GET" && c.req.method !== "HEAD" && isForeignOrigin(c.req.raw.headers, parts)) {
      throw refuseBare(403, "foreign_origin", "Requests from other web sites are refused.");
    }
    return next();
  };
}

function isForeignOrigin(headers: Headers, parts: ServiceParts): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = headers.get("origin");
  if (origin === null) return false;
  return !URL.canParse(origin) || !parts.allowedHosts.has(new URL(origin).host);
}

/** Lets only requests with a live key through, with the key's view; the refusal is a bare error ("Authentication" 5). */
export function requireKey(parts: ServiceParts): MiddlewareHandler<RouteEnv> {
  return async (c, next) => {
    const state = await parts.states.read();
    const principal = await parts.keys.authenticate(c.req.raw.headers, state);
    if (typeof principal === "string") throw unauthorized(principal, { bare: true });
    c.set("principal", principal);
    c.set("view", await parts.access.show(principal, state));
    return next();
  };
}

/** The refusal of a request without a live key. */
export function unauthorized(problem: KeyProblem, { bare }: { bare: boolean }): ServiceError {
  if (problem === "expired") return keyExpired({ bare });
  return new ServiceError(401, "unauthorized", "The API key is missing, invalid or revoked.", {
    type: "auth",
    bare,
    hint: "Send a live key in the x-svc-api-key header; pair this device again if it was revoked.",
  });
}

/** Largest body of a route that sets no other limit, in bytes. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

interface BodyRules {
  /** Most bytes. Default 1 MiB. */
  readonly limit?: number;
  /** Slowest sender. Default 1 KiB/s over 20 s of waiting. */
  readonly rate?: BodyRate;
}

/** How long a body may take on a route that needs no key, in milliseconds. */
const KEYLESS_BODY_MS = 15_000;

/** Rules of routes that need no key: their bodies are tiny, and strangers must not hold connections open with them. */
export const KEYLESS_BODY: BodyRules = { limit: 16 * 1024, rate: { ...DEFAULT_BODY_RATE, totalMs: KEYLESS_BODY_MS } };

/**
 * Reads a JSON object; an empty body is `{}`. A declared length above the limit is refused before a byte is
 * read, an undeclared one while it is read.
 *
 * @throws ServiceError bare: 413 too large, 400 too slow, more than 50,000 values, not a JSON object, or nested too deep.
 */
export async function readJsonObject(bindings: HttpBindings, rules: BodyRules = {}): Promise<Record<string, unknown>> {
  const bytes = await readBytes(bindings, rules);
  if (bytes.length === 0) return {};
  createValueGuard()(bytes);
  let body: unknown;
  try {
    body = parseExactly(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw refuseBare(400, "invalid_json", "The request body is not valid JSON.", cause);
  }
  if (isTooDeep(body))
    throw refuseBare(400, "too_deep", `The request body nests deeper than ${MAX_JSON_DEPTH} levels.`);
  if (isRecord(body)) return body;
  throw refuseBare(400, "invalid_body", "The request body must be a JSON object.");
}

/** @throws ServiceError bare: 413 too large, 400 too slow. */
export async function readBytes(
  bindings: HttpBindings,
  { limit = DEFAULT_BODY_LIMIT, rate = DEFAULT_BODY_RATE }: BodyRules,
): Promise<Buffer> {
  const whole = await takeWhole(bindings);
  if (whole !== undefined) {
    if (whole.length > limit) throw tooLarge(limit);
    return whole;
  }
  const { bytes, contentLength = 0 } = openBody(bindings);
  if (contentLength > limit) throw tooLarge(limit);
  const read = await readBody(guardBodyRate(bytes, rate), limit);
  if (read === undefined) throw tooLarge(limit);
  return read;
}

/** A body that came with its headers, as small ones do; undefined where some is to come. */
export async function takeWhole({ incoming }: Pick<HttpBindings, "incoming">): Promise<Buffer | undefined> {
  // What came with the headers is parsed only when everything that waited for them has had its turn.
  if (!incoming.complete) await nextTurn();
  if (!incoming.complete || incoming.destroyed || incoming.readableDidRead) return undefined;
  const bytes: Buffer | null = incoming.read();
  return bytes ?? Buffer.alloc(0);
}

function tooLarge(limit: number): ServiceError {
  return refuseBare(413, "body_too_large", `The request body is larger than ${limit} bytes.`);
}

/** The body of a request that is too large to be held in memory. */
export interface IncomingBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Undefined when the caller did not announce it. */
  readonly contentLength: number | undefined;
}

/**
 * Opens the raw body. Leaving it half-read does not tear the connection down, so a refusal still reaches a caller
 * that is busy sending; the rest of it is dropped after the answer.
 */
export function openBody({ incoming, outgoing }: HttpBindings): IncomingBody {
  const length = incoming.headers["content-length"];
  const bytes = readBodyPieces(incoming);
  // A reader that gave up while it waited would hold back the next piece, and with it the next request on the connection.
  outgoing.once("close", () => void bytes.return?.(undefined));
  return { bytes, contentLength: length === undefined ? undefined : Number(length) };
}

/** Cuts a request without a key whose body is incomplete after a time, where a library reads the body. */
export function cutLateBody({ incoming }: Pick<HttpBindings, "incoming">): void {
  const late = setTimeout(() => incoming.destroy(), KEYLESS_BODY_MS);
  incoming.once("close", () => clearTimeout(late));
  incoming.once("end", () => clearTimeout(late));
}

/** True for a caller that went away in the middle of its body: no failure of ours, and nobody reads the answer. */
export function isBodyLost({ destroyed, complete }: HttpBindings["incoming"]): boolean {
  return destroyed && !complete;
}

/** A signal that is aborted when the caller goes away before the answer is written. */
export function watchClient({ outgoing }: Pick<HttpBindings, "outgoing">): AbortSignal {
  const controller = new AbortController();
  const look = () => {
    if (!outgoing.writableFinished) controller.abort();
  };
  // The caller can be gone before anybody watches, for example while its key is looked up.
  if (outgoing.closed) look();
  else outgoing.once("close", look);
  return controller.signal;
}

/** A limit as text: outside the range it is clamped, anything that is not a number means the default. */
export function readLimit(text: string | undefined, { min = 1, max, byDefault }: LimitRange): number {
  const wanted = text === undefined || text.trim() === "" ? Number.NaN : Number(text);
  return Number.isNaN(wanted) ? byDefault : Math.trunc(Math.min(Math.max(wanted, min), max));
}

/** Where a limit may lie. */
export interface LimitRange {
  /** Default 1. */
  readonly min?: number;
  readonly max: number;
  readonly byDefault: number;
}

/** A text that says something; blank means that it was not given. */
export function readText(text: string | undefined): string | undefined {
  return text?.trim() || undefined;
}

/** True for `true`, `1` and `yes`; everything else is false. */
export function readFlag(text: string | undefined): boolean {
  return /^(true|1|yes)$/i.test(text?.trim() ?? "");
}

/** The text that a name in an address stands for; undefined for any other name. */
export function findNotice(notices: Readonly<Record<string, string>>, name: string | undefined): string | undefined {
  return name !== undefined && Object.hasOwn(notices, name) ? notices[name] : undefined;
}
