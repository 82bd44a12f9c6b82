import { ServiceError } from "./service-error.ts";

/** 400 `invalid_field_value`: the argument at `field` cannot be used. */
export function refuseValue(field: string, message: string, hint?: string): ServiceError {
  return new ServiceError(400, "invalid_field_value", `arguments.${field} ${message}`, {
    type: "validation",
    extra: { invalidFields: [`arguments.${field}`] },
    ...(hint === undefined ? {} : { hint }),
  });
}

/** 404 `not_found`, type `provider`: the tool exists, the thing it was asked about does not. */
export function refuseMissing(what: string, hint: string): ServiceError {
  return new ServiceError(404, "not_found", what, { type: "provider", hint });
}

/** 503 `provider_unavailable`, retryable: the folder is not there or the disk does not work at the moment. */
export function refuseUnavailable(message: string, hint: string, cause?: unknown): ServiceError {
  return new ServiceError(503, "provider_unavailable", message, { type: "network", retryable: true, hint, cause });
}

/** 422 `integration_misconfigured`: the connection's settings must change before this can work. */
export function refuseSetting(setting: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError(422, "integration_misconfigured", `Setting "${setting}" ${message}`, {
    type: "configuration",
    hint: `Correct the setting "${setting}" of this connection in the dashboard.`,
    extra: { setting },
    cause,
  });
}
