import type { CanonicalErrorCode } from "../../wire/execution.ts";
import type { ServiceError, ServiceErrorStatus } from "../service-error.ts";

const CODE_BY_ERROR: Readonly<Record<string, CanonicalErrorCode>> = {
  ambiguous_connection: "policy_blocked",
  confirmation_required: "policy_blocked",
  idempotency_conflict: "validation_error",
  integration_not_found: "integration_not_found",
  media_url_unavailable: "timeout",
  needs_connection: "integration_not_connected",
  needs_reauth: "reauth_required",
  timeout: "timeout",
  tool_not_found: "action_not_found",
  unknown_connection: "policy_blocked",
  usage_limit_reached: "unsupported_operation",
};

const CODE_BY_STATUS: Readonly<Partial<Record<ServiceErrorStatus, CanonicalErrorCode>>> = {
  400: "validation_error",
  401: "unauthorized",
  403: "forbidden",
  413: "validation_error",
  415: "validation_error",
  422: "unsupported_operation",
  429: "rate_limited",
};

/** The `error_code` of a failure ("Canonical `error_code` values"). */
export function toCanonicalCode(error: ServiceError): CanonicalErrorCode {
  return CODE_BY_ERROR[error.code] ?? CODE_BY_STATUS[error.status] ?? "execution_failed";
}
