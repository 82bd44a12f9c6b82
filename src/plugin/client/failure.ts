import { errorCode } from "../../shared/base/error-code.ts";
import { isSvcError, SvcError, type SvcErrorCode, type SvcErrorOptions } from "../../shared/errors.ts";
import { redact } from "./redact.ts";

/** Progress of one request, which tells whether a failed one has left. */
export interface SendState {
  /** True from the moment the connection stood and the request was about to be written. */
  started: boolean;
  /** The error that the body threw; undefined while there is none. */
  bodyError: unknown;
}

/** A request that this side ended, because of a limit, an abort or an unreadable answer. */
export class RequestStopped extends Error {
  override readonly name = "RequestStopped";
  readonly kind: "timeout" | "aborted" | "too_large" | "undecodable";

  constructor(kind: RequestStopped["kind"], message: string) {
    super(message);
    this.kind = kind;
  }
}

/** Failures that only happen before a connection stands. */
const CONNECT_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EADDRNOTAVAIL",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const TLS_CODE =
  /^(?:CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH_EXCEEDED)/;

/** The next step after a failed TLS handshake; undefined for any other failure. */
function adviseOnTls(code: string): string | undefined {
  if (!TLS_CODE.test(code)) return undefined;
  if (/_SSL_(?:WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG)/.test(code))
    return "Something answers there without TLS: correct the port, or write http:// for this machine.";
  if (/EXPIRED|NOT_YET_VALID/.test(code))
    return "Its certificate is out of date, or the clock of this machine is wrong: renew the one or set the other.";
  if (/ALTNAME|HOSTNAME_MISMATCH/.test(code))
    return "Its certificate is for another name: use the name in the certificate, or make one for this name.";
  if (/DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|INVALID_CA/.test(code))
    return "It is there, and this machine does not trust its certificate. Name the certificate of the authority that issued it, or the self-signed one, in NODE_EXTRA_CA_CERTS=/path/to/ca.pem where this program is started.";
  return "It is there, and the TLS handshake failed: look at its certificate and at the versions of TLS it offers.";
}

const TIMEOUT_CODES: ReadonlySet<string> = new Set(["UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT"]);

const CLOSED_CODES: ReadonlySet<string> = new Set(["UND_ERR_CLOSED", "UND_ERR_DESTROYED"]);

interface FailedRequest {
  readonly label: string;
  readonly origin: string;
  readonly timeoutMs: number;
  readonly secrets: readonly string[];
}

/**
 * Turns whatever ended a request into the one error callers see. `sent` is false only when the request cannot have
 * left: the connection was never made, or we gave up before it was.
 */
export function describeFailure(error: unknown, request: FailedRequest, { started, bodyError }: SendState): SvcError {
  const { label, origin, timeoutMs, secrets } = request;
  const fail = (code: SvcErrorCode, sentence: string, details: SvcErrorOptions) =>
    new SvcError(code, nameRequest(sentence, label), details);
  if (isSvcError(bodyError)) return bodyError;
  if (bodyError !== undefined) {
    return fail("file_missing", "The request body could not be read to its end.", {
      hint: "Check that the attached files still exist and are unchanged.",
      cause: toSafeCause(bodyError, readCode(bodyError), secrets),
    });
  }
  const code = readCode(error);
  const kind = error instanceof RequestStopped ? error.kind : undefined;
  const cause = kind === undefined ? toSafeCause(error, code, secrets) : undefined;
  if (kind === "timeout" || TIMEOUT_CODES.has(code)) {
    const sent = kind === undefined || started;
    const span = timeoutMs < 1000 ? `${timeoutMs} ms` : `${Math.round(timeoutMs / 1000)} s`;
    return fail("timeout", `No complete answer from ${origin} within ${span}.`, {
      retryable: true,
      sent,
      hint: "Where an app is known to take longer, raise the time limit: timeoutMs, or --timeout of svc.",
      cause,
    });
  }
  if (kind === "aborted") return fail("aborted", "Stopped by the caller.", { sent: started });
  if (error instanceof RequestStopped) {
    return fail("bad_response", `The answer cannot be read: ${error.message}.`, { sent: true });
  }
  if (CLOSED_CODES.has(code)) return fail("aborted", "This client is closed.", { sent: started, cause });
  if (code === "UND_ERR_INVALID_ARG") {
    return fail("unsupported", "A header or path of this request cannot be written.", { sent: false, cause });
  }
  const sent = started || !(CONNECT_CODES.has(code) || TLS_CODE.test(code));
  return fail("unreachable", `${sent ? "Lost the connection" : "Could not connect"} to ${origin}: ${code}.`, {
    retryable: true,
    sent,
    hint: sent
      ? "The service may or may not have acted on this request."
      : (adviseOnTls(code) ?? "Check the base URL and that the service is running."),
    cause,
  });
}

/** True when the service was reached and no TLS connection came about, so that its own hint says what to do. */
export function isTlsFailure({ code, cause }: SvcError): boolean {
  return code === "unreachable" && TLS_CODE.test(errorCode(cause) ?? "");
}

function readCode(error: unknown): string {
  return errorCode(error) ?? (error instanceof Error ? error.name : "unknown failure");
}

/** A copy with name, code and a clean message: the original may hold raw response bytes or the request itself. */
function toSafeCause(error: unknown, code: string, secrets: readonly string[]): Error {
  const text = error instanceof Error ? error.message : "";
  return Object.assign(new Error(redact(text, secrets)), { code });
}

/** Appends the request's label to an error sentence, so that people read the failure first. */
export function nameRequest(sentence: string, label: string): string {
  return `${sentence.trimEnd().replace(/(?<!\.)\.$/, "")} (${label}).`;
}

/** The sentence without the request, for people who know no requests. */
export function withoutRequest(message: string): string {
  return message.replace(/([.!?…]?) \([A-Z]+ [^\s()]+\)\.$/, (_, end: string) => end || ".");
}

/** Advice to a model when the service does not accept the key. */
export const KEY_HINT =
  "The key of this device is missing, wrong, revoked or expired. Pair it again (svc pair); calling again will not help.";

/** Advice to a person at a terminal when the service does not accept the key. */
export const PAIR_AGAIN = 'To go on, pair this device again: "svc pair --again".';

/** Advice to a model when a call failed because the key is missing or refused; undefined for any other failure. */
export function adviseOnCredential({ code, hint }: SvcError): string | undefined {
  if (code === "unauthorized") return KEY_HINT;
  if (code !== "credentials_missing") return undefined;
  return hint === undefined ? KEY_HINT : `${hint} Calling again will not help.`;
}
