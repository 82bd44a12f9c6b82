import { refuseMissing, ServiceError } from "../../service/service-error.ts";
import type { Action } from "./integration.ts";
import { toNetworkWords } from "./network-words.ts";
import type { ProviderWords } from "./provider-words.ts";

/** How a provider failed. */
export type ProviderFailure =
  /** It answered with a status of its own. */
  | (ProviderWords & {
      readonly kind: "status";
      readonly status: number;
      readonly retryAfterSeconds?: number | undefined;
    })
  /** It answered with something that cannot be read. */
  | { readonly kind: "garbage"; readonly message?: string | undefined; readonly hint?: string | undefined }
  /** It could not be reached: provably nothing was sent. */
  | { readonly kind: "unreachable"; readonly message?: string | undefined }
  /** The connection broke, or no answer came in time. */
  | { readonly kind: "lost"; readonly message?: string | undefined };

/** Whose failure it is. */
interface FailedCall {
  /** Display name of the app. */
  readonly app: string;
  readonly action: Pick<Action, "level" | "idempotent">;
}

const MESSAGE_MAX = 300;
const CHECK_FIRST = "It may have taken effect all the same: check with a read before sending it again.";

/**
 * The answer of the service to a provider's failure ("Execution (tool-name model)" and "Errors"): 401 the connection
 * needs a new sign-in, 403 scopes are missing, 400 the provider refused the arguments, 404 and 409 as they are, 429 with
 * `Retry-After`, 503 for a provider that is down. After a write whose effect is unknown:
 * 500 `outcome_unknown`, never to be repeated unseen.
 */
export function createProviderError(failure: ProviderFailure, call: FailedCall): ServiceError {
  const said = describe(failure, call.app);
  const isRepeatable = call.action.level === "read" || call.action.idempotent;
  if (!isRepeatable && mayHaveActed(failure)) {
    const type = failure.kind === "lost" ? "network" : "provider";
    return new ServiceError(500, "outcome_unknown", said, { type, hint: CHECK_FIRST });
  }
  const refused = refuse(failure, said);
  const details = failure.kind === "status" ? failure.details : undefined;
  if (details === undefined) return refused;
  return new ServiceError(refused.status, refused.code, said, { ...refused.options, details });
}

function refuse(failure: ProviderFailure, said: string): ServiceError {
  if (failure.kind === "garbage")
    return new ServiceError(500, "provider_error", said, {
      type: "provider",
      hint: failure.hint ?? "Try again later, or tell the owner.",
    });
  return failure.kind === "status" ? fromStatus(failure, said) : refuseDown(said);
}

/** Whether the request may have taken effect despite this failure. */
function mayHaveActed(failure: ProviderFailure): boolean {
  if (failure.kind !== "status") return failure.kind !== "unreachable";
  const { status } = failure;
  // 301 to 303 may point to the result of a completed request; 307 and 308 ask to send it elsewhere.
  return status === 408 || (status >= 500 && status !== 503) || (status >= 300 && status <= 303);
}

function refuseDown(said: string, retryAfterSeconds?: number): ServiceError {
  const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const hint = "Try again later.";
  return new ServiceError(503, "provider_unavailable", said, { type: "network", retryable: true, hint, ...wait });
}

const MORE_RIGHTS =
  "The connected account may not do this: connect it again with more permissions, or use another account.";

function fromStatus({ status, retryAfterSeconds }: ProviderFailure & { kind: "status" }, said: string): ServiceError {
  if (status === 408 || status >= 500) return refuseDown(said, retryAfterSeconds);
  switch (status) {
    case 401:
      return new ServiceError(401, "needs_reauth", said, {
        type: "auth",
        hint: "Connect the app again, then repeat the call.",
      });
    case 403:
      return new ServiceError(403, "forbidden", said, { type: "missing_scopes", hint: MORE_RIGHTS });
    case 404:
    case 410:
      return refuseMissing(said, "Look up the name or id first.");
    case 409:
    case 412:
      return new ServiceError(409, "conflict", said, { type: "provider", hint: "Read its present state first." });
    case 429: {
      const wait = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
      return new ServiceError(429, "rate_limited", said, { type: "rate_limit", retryable: true, ...wait });
    }
    default:
      return status >= 400
        ? new ServiceError(400, "invalid_arguments", said, { type: "validation", hint: "Correct the arguments." })
        : new ServiceError(500, "provider_error", said, { type: "provider" });
  }
}

function describe(failure: ProviderFailure, app: string): string {
  const words = failure.message?.replaceAll(/\s+/g, " ").trim().slice(0, MESSAGE_MAX);
  const added = words ? `: ${words}` : ".";
  const said = words ? `: ${toNetworkWords(words)}` : ".";
  switch (failure.kind) {
    case "status":
      return `${app} answered ${failure.status}${added}`;
    case "garbage":
      return `${app} gave an answer that cannot be read${added}`;
    case "unreachable":
      return `${app} cannot be reached${said}`;
    case "lost":
      return `${app} gave no answer${said}`;
  }
}

/**
 * Seconds to wait, from a `Retry-After` header: seconds or an HTTP date; undefined when it is neither.
 *
 * @param now milliseconds since the epoch
 */
export function readRetryAfter(header: string | null | undefined, now: number): number | undefined {
  const text = header?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Number(text);
  const date = /[a-z]/i.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, Math.ceil((date - now) / 1000));
}

/** Errors that come before the first byte of a request is sent. */
const BEFORE_SENDING =
  /^(ECONNREFUSED|ENOTFOUND|EAI_\w+|E(HOST|NET)UNREACH|UND_ERR_CONNECT_TIMEOUT|ERR_TLS_\w+|ERR_SSL_\w+|CERT_\w+|(DEPTH_ZERO_)?SELF_SIGNED_\w+|UNABLE_TO_\w+)$/;

const NOT_PRIVATE = 'its address is not a public one, and the app was added without "--private"';

/**
 * Classifies an error of the HTTP client by its innermost cause: the request was never sent, or its outcome is unknown.
 *
 * @param blocked message for an address that is not public
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
