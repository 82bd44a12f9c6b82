import type { PieceFailure } from "../piece-messages.ts";
import { Unsupported } from "./create-context.ts";
import { BLOCKED } from "./guard-network.ts";
import { type Exchange, hasFailed, readCode } from "./watch-http.ts";

/** More than is shown: where they are cut, a secret must not be cut in two before it is looked for. */
const WORDS_MAX = 4_000;
const NEVER_LEFT = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);
const BROKEN_OFF = new Set(["ECONNRESET", "EPIPE", "ETIMEDOUT", "ECONNABORTED", "UND_ERR_SOCKET", "UND_ERR_ABORTED"]);
/** How providers that answer everything with 200 name a refusal, in an error's own words. */
const NAMED_REFUSALS: readonly (readonly [RegExp, number])[] = [
  [/\b(?:invalid_auth|not_authed|token_expired|token_revoked|account_inactive|expired_token|invalid_token)\b/, 401],
  [/\b(?:missing_scope|insufficient_scope|not_allowed_token_type|no_permission|restricted_action)\b/, 403],
  [/\b(?:ratelimited|rate_limited|too_many_requests)\b/, 429],
  [/\b[a-z]+_not_found\b/, 404],
];

/**
 * What a failed task comes to: pieces turn most failures into plain errors, so the requests they sent tell more.
 *
 * @param error what the piece threw; undefined when it was given up because it waited for another try.
 */
export function readFailure(error: unknown, exchanges: readonly Exchange[]): PieceFailure {
  const words = findWords(error).slice(0, WORDS_MAX);
  const last = findCulprit(error, exchanges);
  const code = readCode(error);
  const acted = exchanges.filter(hasActed);
  const base = { type: "failed", words, mayHaveActed: acted.some((one) => one !== last) } as const;
  if (error instanceof Unsupported) return { ...base, kind: "unsupported", mayHaveActed: acted.length > 0 };
  if (code === BLOCKED || last?.errorCode === BLOCKED) return { ...base, kind: "blocked" };
  if (last === undefined) return { ...base, kind: "own" };
  if (last.errorCode !== undefined) return { ...base, kind: NEVER_LEFT.has(last.errorCode) ? "unreachable" : "lost" };
  const { status } = last;
  if (status === undefined) return { ...base, kind: "lost" };
  if (status >= 400) return { ...base, kind: "status", ...readStatus(last, status) };
  if (BROKEN_OFF.has(code) || /\b(?:aborted|premature close|socket hang up|terminated)\b/i.test(words)) {
    return { ...base, kind: "lost" };
  }
  return readAnswered(error, base, { last, acted: acted.length > 0 });
}

/** The request an error is about: the one whose status it carries, else the last one. */
function findCulprit(error: unknown, exchanges: readonly Exchange[]): Exchange | undefined {
  const status =
    memberOf(error, "status") ?? memberOf(error, "statusCode") ?? memberOf(memberOf(error, "response"), "status");
  const named = typeof status === "number" ? exchanges.findLast((one) => one.status === status) : undefined;
  const failed = error === undefined ? exchanges.findLast(hasFailed) : undefined;
  return named ?? failed ?? exchanges.at(-1);
}

/** The provider answered with success, and the piece failed all the same. */
function readAnswered(
  error: unknown,
  base: Pick<PieceFailure, "type" | "words" | "mayHaveActed">,
  { last, acted }: { last: Exchange; acted: boolean },
): PieceFailure {
  const named = findRefusal(error);
  const [, status] = NAMED_REFUSALS.find(([pattern]) => pattern.test(named ?? base.words)) ?? [];
  if (status !== undefined) return { ...base, kind: "status", ...readStatus(last, status) };
  if (named !== undefined) return { ...base, kind: "own" };
  const isUnreadable = error instanceof SyntaxError || /\bjson\b|unexpected (?:token|end)/i.test(base.words);
  if (isUnreadable) return { ...base, kind: "garbage", mayHaveActed: false };
  return { ...base, kind: "own", mayHaveActed: acted };
}

function readStatus({ retryAfter, isExhausted }: Exchange, status: number): { status: number; retryAfter?: string } {
  // GitHub and others say "too many" as 403, and tell by a header.
  const isLimited = status === 403 && (isExhausted === true || retryAfter !== undefined);
  return { status: isLimited ? 429 : status, ...(retryAfter !== undefined && { retryAfter }) };
}

function hasActed({ method, status, errorCode }: Exchange): boolean {
  if (["GET", "HEAD", "OPTIONS"].includes(method)) return false;
  // One without an answer may have acted too, unless it never left.
  return errorCode === undefined ? (status ?? 0) < 400 : !NEVER_LEFT.has(errorCode) && errorCode !== BLOCKED;
}

/** The name of a refusal that the provider's answer holds: `{ ok: false, error: "…" }`. */
function findRefusal(error: unknown): string | undefined {
  const data = memberOf(error, "data") ?? memberOf(memberOf(error, "response"), "data");
  const name = memberOf(data, "error");
  return memberOf(data, "ok") === false && typeof name === "string" ? name : undefined;
}

/** An error's words; some pieces throw the provider's whole answer as JSON. */
function findWords(error: unknown): string {
  if (error === undefined) return "";
  const message = error instanceof Error ? error.message : String(memberOf(error, "message") ?? error);
  if (!message.startsWith("{")) return message;
  try {
    const body = memberOf(memberOf(JSON.parse(message), "response"), "body");
    return findMessage(typeof body === "string" && body.startsWith("{") ? JSON.parse(body) : body) ?? message;
  } catch {
    return message;
  }
}

function findMessage(body: unknown): string | undefined {
  if (typeof body === "string") return body;
  for (const part of [body, memberOf(body, "error")]) {
    for (const name of ["message", "error", "detail", "error_description"]) {
      const found = memberOf(part, name);
      if (typeof found === "string") return found;
    }
  }
  return undefined;
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
