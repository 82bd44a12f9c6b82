/** The closed set of reasons this package throws. Match on `code`, never on class or message text. */
export const SVC_ERROR_CODES = [
  "unreachable",
  "timeout",
  "aborted",
  "unauthorized",
  "bad_response",
  "service_failure",
  "media_refused",
  "file_missing",
  "pairing_failed",
  "credentials_missing",
  "invalid_config",
  "unsupported",
] as const;

/** One of {@link SVC_ERROR_CODES}. */
export type SvcErrorCode = (typeof SVC_ERROR_CODES)[number];

/** What a caller can do next, in the words of the API document ("recommended_next_action"). */
export interface NextAction {
  readonly tool: string;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Everything about a failure besides its code and message. */
export interface SvcErrorOptions {
  /** HTTP status, when an answer arrived. */
  readonly status?: number | undefined;
  /** The service's own code, passed through untouched: its list is open. */
  readonly serviceCode?: string | undefined;
  /** True when the same call may succeed later. Default false. */
  readonly retryable?: boolean | undefined;
  /** Milliseconds to wait before a retry, when the service said so. */
  readonly retryAfterMs?: number | undefined;
  /** One sentence: what to do next. */
  readonly hint?: string | undefined;
  readonly nextAction?: NextAction | undefined;
  /** The argument or setting that is wrong, as a dotted path. */
  readonly field?: string | undefined;
  /** False only when the request provably never left this machine, so that even a write may be sent again. */
  readonly sent?: boolean | undefined;
  readonly cause?: unknown;
}

const BRAND: unique symbol = Symbol.for("svc-agent-plugin.SvcError");

/**
 * The one error class of this package. Outcomes a caller can plan for are values, not errors.
 * The message says what failed, on which thing, and never holds a key, a token or file bytes.
 */
export class SvcError extends Error {
  override readonly name = "SvcError";
  readonly [BRAND] = true;
  readonly code: SvcErrorCode;
  readonly status: number | undefined;
  readonly serviceCode: string | undefined;
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly hint: string | undefined;
  readonly nextAction: NextAction | undefined;
  readonly field: string | undefined;
  readonly sent: boolean | undefined;

  constructor(code: SvcErrorCode, message: string, options: SvcErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.status = options.status;
    this.serviceCode = options.serviceCode;
    this.retryable = options.retryable ?? false;
    this.retryAfterMs = options.retryAfterMs;
    this.hint = options.hint;
    this.nextAction = options.nextAction;
    this.field = options.field;
    this.sent = options.sent;
  }
}

/** True for a {@link SvcError}, also one made by another installed copy of this package. */
export function isSvcError(value: unknown): value is SvcError {
  return typeof value === "object" && value !== null && BRAND in value;
}
