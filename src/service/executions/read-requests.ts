import { isRecord } from "../../base/json.ts";
import { MAX_IDEMPOTENCY_KEY } from "../../wire/constants.ts";
import { ServiceError } from "../service-error.ts";
import type { ToolCall } from "./execute-tool.ts";

/** Fields of an execute request that are never arguments. */
const RESERVED = new Set(["connectionId", "confirmed", "files"]);

/**
 * Reads the body of a tool-name execute request: without `arguments`, everything but the reserved fields are the
 * arguments. Only the boolean `true` confirms.
 */
export function readToolRequest(
  body: Readonly<Record<string, unknown>>,
): Pick<ToolCall, "arguments" | "connectionId" | "confirmed"> {
  const { connectionId, confirmed } = body;
  const loose = Object.fromEntries(Object.entries(body).filter(([key]) => !RESERVED.has(key)));
  return {
    arguments: "arguments" in body ? body.arguments : loose,
    connectionId: readConnectionId(connectionId),
    confirmed: confirmed === true,
  };
}

/** Ids are strings here; anything else can only be unknown, and is shown as it was sent. */
function readConnectionId(connectionId: unknown): string | undefined {
  if (connectionId == null || connectionId === "") return undefined;
  return typeof connectionId === "string" ? connectionId : JSON.stringify(connectionId);
}

/** A well-formed body of `POST /api/executions`. */
export interface CanonicalRequest {
  readonly integrationId: string;
  readonly actionId: string;
  readonly input: Readonly<Record<string, unknown>>;
  /** True only when the body says the boolean true. */
  readonly confirm: boolean;
  readonly idempotencyKey: string | undefined;
  /** The account to act on; undefined for the default one. */
  readonly connectionId: string | undefined;
}

/**
 * Reads the body of `POST /api/executions`.
 *
 * @throws ServiceError 400 bare for a missing `integration_id`, `action_id` or object `input`, for `files`, and for an
 *   `idempotency_key` that is no string of 1 to 200 characters.
 */
export function readCanonicalRequest(body: Readonly<Record<string, unknown>>): CanonicalRequest {
  const { integration_id, action_id, input, confirm, idempotency_key, connection_id, files } = body;
  if (!isText(integration_id) || !isText(action_id) || !isRecord(input)) {
    throw refuse("invalid_request", "integration_id, action_id and an object input are required.");
  }
  if (files != null) {
    throw refuse(
      "files_not_accepted",
      "`files` is not accepted here. Put a public https URL into the file field of `input`, or send the bytes to POST /api/tools/{name}/execute.",
    );
  }
  return {
    integrationId: integration_id.trim(),
    actionId: action_id.trim(),
    input,
    confirm: confirm === true,
    idempotencyKey: readIdempotencyKey(idempotency_key),
    connectionId: readConnectionId(connection_id),
  };
}

/**
 * An idempotency key as it was sent; undefined for none.
 *
 * @throws ServiceError 400 bare for anything but a text of 1 to 200 characters.
 */
export function readIdempotencyKey(key: unknown): string | undefined {
  if (key == null) return undefined;
  if (isKey(key)) return key;
  const message = `\`idempotency_key\` must be a text of 1 to ${MAX_IDEMPOTENCY_KEY} characters.`;
  throw refuse("invalid_idempotency_key", message);
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
