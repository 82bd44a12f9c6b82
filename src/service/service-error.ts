/** HTTP statuses a {@link ServiceError} may carry. */
export type ServiceErrorStatus =
  | 400
  | 401
  | 402
  | 403
  | 404
  | 405
  | 409
  | 410
  | 412
  | 413
  | 415
  | 422
  | 429
  | 500
  | 503;

/** Further members of a {@link ServiceError}. */
export interface ServiceErrorOptions {
  /** `error.type` of the envelope, e.g. `validation`, `auth`, `missing_scopes`, `rate_limit`, `network`, `provider`. */
  readonly type?: string;
  /** True when the same request could succeed later. Default false. */
  readonly retryable?: boolean;
  readonly retryAfterSeconds?: number;
  /** One actionable sentence. */
  readonly hint?: string;
  /** Additional lines, one fact each. */
  readonly details?: readonly string[];
  /** Members added to the `error` object of the envelope, e.g. `upload`, `missingFields`, `invalidFields`. */
  readonly extra?: Readonly<Record<string, unknown>>;
  /** Guard errors are rendered as a bare `{ error }` whatever the route. */
  readonly bare?: boolean;
  readonly cause?: unknown;
}

/**
 * A failure the service answers with. Thrown anywhere in the service, rendered in one place
 * (`http/render-outcome.ts`) as bare error, execution envelope or execution summary.
 */
export class ServiceError extends Error {
  override readonly name = "ServiceError";
  readonly status: ServiceErrorStatus;
  readonly code: string;
  readonly options: ServiceErrorOptions;

  constructor(status: ServiceErrorStatus, code: string, message: string, options: ServiceErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.status = status;
    this.code = code;
    this.options = options;
  }
}

/** The same failure without one of the members in `extra`. */
export function leaveOut({ status, code, message, options }: ServiceError, name: string): ServiceError {
  const { [name]: _, ...extra } = options.extra ?? {};
  return new ServiceError(status, code, message, { ...options, extra });
}

/** A guard error ("Errors", envelope 3): bare whatever the route, and final. */
export function refuseBare(status: ServiceErrorStatus, code: string, message: string, cause?: unknown): ServiceError {
  return new ServiceError(status, code, message, { bare: true, cause });
}

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

/** What goes wrong after `what` was changed leaves 500 `outcome_unknown`, whatever it was: it is never "not done". */
export async function afterChange<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    if (cause instanceof ServiceError && cause.code === "outcome_unknown") throw cause;
    const reason = cause instanceof ServiceError ? cause.message : "It failed unexpectedly.";
    throw new ServiceError(500, "outcome_unknown", `${what} changed, and what came after that failed. ${reason}`, {
      type: "provider",
      hint: "Look whether it is as it should be before anything is repeated.",
      cause,
    });
  }
}

/** One thing that the operator of the service should know. */
interface LogEntry {
  readonly level: "info" | "warn" | "error";
  /** On one line. */
  readonly message: string;
  /** May hold a stack, and never leaves the machine. */
  readonly cause?: unknown;
  /** The same for programs, of a request or a change that a person made. `event` names its kind, e.g. `device.revoked`. */
  readonly facts?: { readonly event: string } & Readonly<Record<string, string | number>>;
}

/** Where the service writes what its operator should know. */
export type ServiceLog = (entry: LogEntry) => void;
