import type { ProviderFailure } from "../integrations/provider-failure.ts";
import { ServiceError } from "../service-error.ts";

/** Errors that come before the first byte of a request is sent. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

const NOT_PRIVATE = 'its address is not a public one, and the app was added without "--private"';

/**
 * What an error of the HTTP client, or one it was caused by, says about the request: never sent, or nobody knows.
 *
 * @param blocked what is said of an address that is not public
 */
export function readNetworkFailure(error: unknown, blocked = NOT_PRIVATE): ProviderFailure {
  const code = findCode(error);
  if (code === BLOCKED) return { kind: "unreachable", message: blocked };
  return { kind: BEFORE_SENDING.test(code) ? "unreachable" : "lost", message: code };
}

const BLOCKED = "media_url_blocked";

/** The innermost code: the outer errors only say that something failed. */
function findCode(error: unknown): string {
  if (error instanceof ServiceError) return error.code;
  if (!(error instanceof Error)) return "";
  const inner = findCode(error.cause);
  if (inner !== "") return inner;
  return "code" in error && typeof error.code === "string" ? error.code : "";
}
