import type { HttpBindings } from "@hono/node-server";
import { isRecord } from "../../base/json.ts";
import {
  type BodyRate,
  createValueGuard,
  DEFAULT_BODY_RATE,
  guardBodyRate,
  isTooDeep,
  MAX_JSON_DEPTH,
} from "../files/body-limits.ts";
import { ServiceError } from "../service-error.ts";

/** Largest body of a route that sets no other limit, in bytes. */
const DEFAULT_BODY_LIMIT = 1024 * 1024;

/** Rules for reading a body. */
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
    body = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch (cause) {
    throw new ServiceError(400, "invalid_json", "The request body is not valid JSON.", { bare: true, cause });
  }
  if (isTooDeep(body)) {
    throw new ServiceError(400, "too_deep", `The request body nests deeper than ${MAX_JSON_DEPTH} levels.`, {
      bare: true,
    });
  }
  if (isRecord(body)) return body;
  throw new ServiceError(400, "invalid_body", "The request body must be a JSON object.", { bare: true });
}

/** @throws ServiceError bare: 413 too large, 400 too slow. */
export async function readBytes(
  bindings: HttpBindings,
  { limit = DEFAULT_BODY_LIMIT, rate = DEFAULT_BODY_RATE }: BodyRules,
): Promise<Buffer> {
  const { bytes, contentLength = 0 } = openBody(bindings);
  if (contentLength > limit) throw tooLarge(limit);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of guardBodyRate(bytes, rate)) {
    size += chunk.length;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function tooLarge(limit: number): ServiceError {
  return new ServiceError(413, "body_too_large", `The request body is larger than ${limit} bytes.`, { bare: true });
}

/** The body of a request that is too large to be held in memory. */
export interface IncomingBody {
  readonly bytes: AsyncIterable<Uint8Array>;
  /** Undefined when the caller did not announce it. */
  readonly contentLength: number | undefined;
  /** Aborted when the caller goes away before the answer is written. */
  readonly clientGone: AbortSignal;
}

/**
 * Opens the raw body. Leaving it half-read does not tear the connection down, so a refusal still reaches a caller
 * that is busy sending; the rest of it is dropped after the answer.
 */
export function openBody({ incoming, outgoing }: HttpBindings): IncomingBody {
  const length = incoming.headers["content-length"];
  const bytes = incoming.iterator({ destroyOnReturn: false });
  // An iterator that nobody left would hold the rest back, and with it the next request on the connection.
  outgoing.once("close", () => void bytes.return?.(undefined).catch(() => undefined));
  return {
    bytes,
    contentLength: length === undefined ? undefined : Number(length),
    clientGone: watchClient({ outgoing }),
  };
}

/** Cuts a request without a key that has not come whole in time, where somebody else reads its body. */
export function cutLateBody({ incoming }: Pick<HttpBindings, "incoming">, ms = KEYLESS_BODY_MS): void {
  const late = setTimeout(() => incoming.destroy(), ms);
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
