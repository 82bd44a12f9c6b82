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

/** What a failure carries besides status, code and message. */
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
 * (`http/render-error.ts`) as bare error, execution envelope or execution summary.
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
