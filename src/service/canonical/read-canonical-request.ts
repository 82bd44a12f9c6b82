import { ServiceError } from "../service-error.ts";
import { MAX_IDEMPOTENCY_KEY } from "./idempotency-keys.ts";

/** A well-formed body of `POST /api/executions`. */
export interface CanonicalRequest {
  readonly integrationId: string;
  readonly actionId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** True only when the body says the boolean true. */
  readonly confirm: boolean;
  readonly idempotencyKey: string | undefined;
}

/**
 * Reads the body of `POST /api/executions`.
 *
 * @throws ServiceError 400 bare for a missing `integration_id`, `action_id` or object `input`, for `files`, and for an
 *   `idempotency_key` that is no string of 1 to 200 characters.
 */
export function readCanonicalRequest(body: Readonly<Record<string, unknown>>): CanonicalRequest {
  const { integration_id, action_id, input, confirm, idempotency_key, files } = body;
  if (!isText(integration_id) || !isText(action_id) || !isObject(input)) {
    throw refuse("invalid_request", "integration_id, action_id and an object input are required.");
  }
  if (files != null) {
    throw refuse(
      "files_not_accepted",
      "`files` is not accepted here. Put a public https URL into the file field of `input`, or send the bytes to POST /api/tools/{name}/execute.",
    );
  }
  if (idempotency_key != null && !isKey(idempotency_key)) {
    throw refuse(
      "invalid_idempotency_key",
      `\`idempotency_key\` must be a text of 1 to ${MAX_IDEMPOTENCY_KEY} characters.`,
    );
  }
  return {
    integrationId: integration_id.trim(),
    actionId: action_id.trim(),
    input,
    confirm: confirm === true,
    idempotencyKey: idempotency_key ?? undefined,
  };
}

function refuse(code: string, message: string): ServiceError {
  return new ServiceError(400, code, message, { bare: true });
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isKey(value: unknown): value is string {
  return isText(value) && value.length <= MAX_IDEMPOTENCY_KEY && value.isWellFormed() && !value.includes("\u0000");
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
