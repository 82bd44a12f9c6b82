import { ServiceError } from "../service-error.ts";
import { refuseUrl } from "./url-refusal.ts";

const LATE = new Set(["UND_ERR_CONNECT_TIMEOUT", "UND_ERR_HEADERS_TIMEOUT", "UND_ERR_BODY_TIMEOUT", "ETIMEDOUT"]);
const NO_SUCH_HOST = new Set(["ENOTFOUND", "ENODATA"]);
/** Codes of OpenSSL and node:tls for a certificate that does not prove the host. */
const BAD_CERTIFICATE = /CERT|SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|^ERR_TLS/;
const NO_TLS = /^(?:EPROTO|ERR_SSL_)/;

/** The answer breaks the rules of HTTP; the parser's errors often have no code. */
function isUnreadable(error: unknown, code: string): boolean {
  if (code === "UND_ERR_HEADERS_OVERFLOW") return true;
  return error instanceof Error && error.name === "HTTPParserError" && code !== "HPE_INVALID_EOF_STATE";
}

function readCode(error: unknown): string {
  if (!(error instanceof Error)) return "";
  return "code" in error && typeof error.code === "string" ? error.code : "";
}

/**
 * What went wrong on the network, as a refusal. The system's own message, which may hold addresses, stays in `cause`.
 * ServiceErrors come back unchanged.
 */
export function explainFailure(error: unknown, limit: { isOver: boolean; isCallerGone: boolean }): ServiceError {
  if (error instanceof ServiceError) return error;
  const cause = error;
  if (limit.isCallerGone) {
    return new ServiceError(503, "client_gone", "The caller went away before this ran.", { cause });
  }
  const code = readCode(error);
  if (limit.isOver || LATE.has(code)) {
    return refuseUrl("media_url_unavailable", "took too long to answer.", { cause });
  }
  if (code === "UND_ERR_RES_EXCEEDED_MAX_SIZE") return refuseSize(cause);
  if (NO_SUCH_HOST.has(code)) {
    return refuseUrl("media_url_failed", "names a host that does not exist.", { hint: "Check the address.", cause });
  }
  if (BAD_CERTIFICATE.test(code)) {
    return refuseUrl("media_url_failed", "leads to a host without a valid certificate for its name.", { cause });
  }
  if (isUnreadable(error, code) || NO_TLS.test(code)) {
    return refuseUrl("media_url_failed", "leads to a host whose answer cannot be read.", { cause });
  }
  return refuseUrl("media_url_unavailable", "could not be read: the connection failed.", { cause });
}

/** A file above the documented 25 MB. */
export function refuseSize(cause?: unknown): ServiceError {
  return refuseUrl("file_too_large", "leads to a file larger than 25 MB.", { cause });
}
