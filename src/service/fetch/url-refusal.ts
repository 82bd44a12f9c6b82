import { errorCode } from "../../shared/base/error-code.ts";
import { ServiceError } from "../service-error.ts";

/**
 * Why a URL gave no file.
 * - `media_url_invalid` 400: no URL the service asks for (scheme, port, credentials in it, control characters, length).
 * - `media_url_blocked` 400: its host, or where its name or a redirect leads, is not public.
 * - `media_url_failed` 400: the host answers, but with no file (not found, sign-in, too many redirects, compressed, empty).
 * - `media_url_not_a_file` 400: a web page without a usable preview image.
 * - `media_url_unavailable` 503, retryable: timeouts and failures of the host or of the network.
 * - `file_too_large` 400.
 */
type UrlRefusalCode =
  | "media_url_invalid"
  | "media_url_blocked"
  | "media_url_failed"
  | "media_url_not_a_file"
  | "media_url_unavailable"
  | "file_too_large";

const DIRECT_LINK = "Give a direct link to the file itself that anyone can open without signing in";

const HINTS: Readonly<Record<UrlRefusalCode, string>> = {
  media_url_invalid: "Give a public https URL without a user name, on port 443 or 8443.",
  media_url_blocked:
    "Give a public https URL, or send the bytes in the files envelope. The owner of this service can allow a host of theirs with --allow-host HOST:PORT.",
  media_url_failed: `${DIRECT_LINK}, or send the bytes in the files envelope.`,
  media_url_not_a_file: `${DIRECT_LINK}, not to a page that shows it.`,
  media_url_unavailable: "Try again later, or send the bytes in the files envelope.",
  file_too_large: "Send a smaller file.",
};

/** A refusal whose message is "The URL" plus `problem`. Neither names an address that a lookup or a redirect revealed. */
export function refuseUrl(
  code: UrlRefusalCode,
  problem: string,
  o: { hint?: string | undefined; cause?: unknown } = {},
): ServiceError {
  const isPassing = code === "media_url_unavailable";
  return new ServiceError(isPassing ? 503 : 400, code, `The URL ${problem}`, {
    type: isPassing ? "network" : "validation",
    retryable: isPassing,
    hint: o.hint ?? HINTS[code],
    cause: o.cause,
  });
}

/** The same refusal with the argument it is about in front; anything else comes back unchanged. `hints` replace the usual ones. */
export function nameArgument(
  error: unknown,
  path: string,
  hints: Readonly<Partial<Record<UrlRefusalCode, string>>> = {},
): unknown {
  if (!(error instanceof ServiceError) || !isRefusalCode(error.code)) return error;
  const hint =
    error.options.hint === HINTS[error.code] ? (hints[error.code] ?? error.options.hint) : error.options.hint;
  const message = `${path}: ${error.message.replace(/^The/, "the")}`;
  return new ServiceError(error.status, error.code, message, {
    ...error.options,
    ...(hint !== undefined && { hint }),
    extra: { invalidFields: [path] },
  });
}

function isRefusalCode(code: string): code is UrlRefusalCode {
  return Object.hasOwn(HINTS, code);
}

const TOO_LATE = "took too long to answer.";
const UNREADABLE = "leads to a host whose answer cannot be read.";
/** Codes of the network and of OpenSSL, and the problem of the URL for each. */
const FAILURES: readonly (readonly [codes: RegExp, code: UrlRefusalCode, problem: string, hint?: string])[] = [
  [/^(?:UND_ERR_(?:CONNECT|HEADERS|BODY)_TIMEOUT|ETIMEDOUT)$/, "media_url_unavailable", TOO_LATE],
  [/^(?:ENOTFOUND|ENODATA)$/, "media_url_failed", "names a host that does not exist.", "Check the address."],
  [
    /CERT|SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|^ERR_TLS/,
    "media_url_failed",
    "leads to a host without a valid certificate for its name.",
  ],
  [/^(?:EPROTO|ERR_SSL_|UND_ERR_HEADERS_OVERFLOW$)/, "media_url_failed", UNREADABLE],
];

/** The answer breaks the rules of HTTP; the parser's errors often have no code. */
function isUnreadable(error: unknown): boolean {
  return error instanceof Error && error.name === "HTTPParserError" && errorCode(error) !== "HPE_INVALID_EOF_STATE";
}

/**
 * A network failure as a refusal. The system's own message, which may hold addresses, stays in `cause`.
 * ServiceErrors come back unchanged.
 */
export function explainFailure(error: unknown, limit: { isOver: boolean; isCallerGone: boolean }): ServiceError {
  if (error instanceof ServiceError) return error;
  const cause = error;
  if (limit.isCallerGone) {
    return new ServiceError(503, "client_gone", "The caller went away before this ran.", { cause });
  }
  const code = errorCode(error) ?? "";
  if (limit.isOver) return refuseUrl("media_url_unavailable", TOO_LATE, { cause });
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return refuseSize(cause);
  const [, refusal, problem, hint] = FAILURES.find(([codes]) => codes.test(code)) ?? [];
  if (refusal !== undefined && problem !== undefined) return refuseUrl(refusal, problem, { hint, cause });
  if (isUnreadable(error)) return refuseUrl("media_url_failed", UNREADABLE, { cause });
  return refuseUrl("media_url_unavailable", "could not be read: the connection failed.", { cause });
}

/** A file above the documented 25 MB. */
export function refuseSize(cause?: unknown): ServiceError {
  return refuseUrl("file_too_large", "leads to a file larger than 25 MB.", { cause });
}
