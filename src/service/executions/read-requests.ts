import { isRecord } from "../../shared/base/json.ts";
import { checkStrictly } from "../../shared/schema-check/check-strictly.ts";
import { showValue } from "../../shared/schema-check/describe-expected.ts";
import { type ArgumentProblem, createProblem } from "../../shared/schema-check/explain-problems.ts";
import { UnusableSchema } from "../../shared/schema-check/normalise-schema.ts";
import { findPlaceholderArguments } from "../../shared/schema-check/placeholders.ts";
import { type SideEffectLevel, sideEffectLevelSchema } from "../../shared/wire/catalog.ts";
import { MAX_IDEMPOTENCY_KEY } from "../../shared/wire/constants.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { refuseBare, ServiceError } from "../service-error.ts";

/** Fields of an execute request that are never arguments. */
const RESERVED = new Set(["connectionId", "confirmed", "confirmed_level", "preview_state", "files"]);

/**
 * Reads the body of a tool-name execute request: without `arguments`, everything but the reserved fields are the
 * arguments. Only the boolean `true` confirms.
 */
export function readToolRequest(body: Readonly<Record<string, unknown>>) {
  const { connectionId, confirmed } = body;
  const loose = Object.fromEntries(Object.entries(body).filter(([key]) => !RESERVED.has(key)));
  return {
    arguments: "arguments" in body ? body.arguments : loose,
    connectionId: readConnectionId(connectionId),
    confirmed: confirmed === true,
    confirmedLevel: readLevel(body.confirmed_level),
    previewState: readState(body.preview_state),
  };
}

/** A state that cannot be one is no present one. */
function readState(state: unknown): string | undefined {
  if (state == null) return undefined;
  return typeof state === "string" ? state : "";
}

/** A level that nobody knows covers no more than a read. */
function readLevel(level: unknown): SideEffectLevel | undefined {
  return level == null ? undefined : (sideEffectLevelSchema.safeParse(level).data ?? "read");
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
  readonly confirm: boolean;
  /** The level that whoever confirmed it was shown; undefined: any. */
  readonly confirmedLevel?: SideEffectLevel | undefined;
  /** State of the preview that they were shown; undefined: any. */
  readonly previewState?: string | undefined;
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
    throw refuseBare(400, "invalid_request", "integration_id, action_id and an object input are required.");
  }
  if (files != null) {
    throw refuseBare(
      400,
      "files_not_accepted",
      "`files` is not accepted here. Put a public https URL into the file field of `input`, or send the bytes to POST /api/tools/{name}/execute.",
    );
  }
  return {
    integrationId: integration_id.trim(),
    actionId: action_id.trim(),
    input,
    confirm: confirm === true,
    confirmedLevel: readLevel(body.confirmed_level),
    previewState: readState(body.preview_state),
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
  throw refuseBare(400, "invalid_idempotency_key", message);
}

function isText(value: unknown): value is string {
  return typeof value === "string" && value.trim() !== "";
}

function isKey(value: unknown): value is string {
  return isText(value) && value.length <= MAX_IDEMPOTENCY_KEY && value.isWellFormed() && !value.includes("\u0000");
}

/** The key of a file object may be any string that matches a file sent along ("File rules" 6). */
const FREE_NAMES = ["s3key"];

/**
 * Checks arguments against the action's schema. File fields pass here: they are checked when the bytes are resolved.
 *
 * @throws ServiceError 400 `invalid_arguments` with one line for each of up to 100 problems in `details`, paths in
 *   `missingFields` and `invalidFields`, also for arguments that take too long to check; 400 `placeholder_argument` when a
 *   value was left unfilled, such as `<file id>`. 422 `integration_misconfigured` for a schema that nothing can be checked by.
 */
export function checkArguments(entry: CatalogEntry, args: unknown): Record<string, unknown> {
  if (!isRecord(args)) throw invalidArguments(entry, [createProblem([], "object", showValue(args, []))]);
  const verdict = judge(entry, args);
  if (verdict.kind === "invalid") throw invalidArguments(entry, verdict.problems);
  if (verdict.kind === "unchecked") throw uncheckedArguments(entry, verdict);
  refusePlaceholders(entry, args);
  return args;
}

function judge({ action, integration }: CatalogEntry, args: Record<string, unknown>) {
  try {
    return checkStrictly(action.inputSchema, args);
  } catch (error) {
    if (!(error instanceof UnusableSchema)) throw error;
    const message = `The arguments of "${action.title}" cannot be checked: the schema that ${integration.name} has for them is broken.`;
    throw new ServiceError(422, "integration_misconfigured", message, {
      type: "configuration",
      hint: "Use another action. The maker of the app has to correct the input schema of this one.",
      cause: error.cause,
    });
  }
}

function refusePlaceholders({ action }: CatalogEntry, args: Record<string, unknown>): void {
  const unfilled = new Map<string, string>();
  for (const { path, value } of findPlaceholderArguments(args, action.inputSchema, FREE_NAMES)) {
    unfilled.set(path, `arguments.${path} is still the placeholder ${value}`);
  }
  const details = [...unfilled.values()];
  if (details.length === 0) return;
  throw new ServiceError(400, "placeholder_argument", `${details[0]}.`, {
    type: "validation",
    details,
    hint: "Find the real value first, for example with a list or search tool, and send the call again.",
    extra: { invalidFields: [...unfilled.keys()] },
  });
}

function invalidArguments({ toolName }: CatalogEntry, problems: readonly ArgumentProblem[]): ServiceError {
  const details = problems.map(({ message }) => message);
  const listPaths = (isMissing: boolean) => [
    ...new Set(problems.filter((problem) => problem.isMissing === isMissing && problem.path).map(({ path }) => path)),
  ];
  return new ServiceError(400, "invalid_arguments", details[0] ?? "The arguments are not valid.", {
    type: "validation",
    details,
    hint: `Correct what \`details\` names and send the call again; GET /api/tools/${toolName} shows the full input schema.`,
    extra: { missingFields: listPaths(true), invalidFields: listPaths(false) },
  });
}

function uncheckedArguments({ toolName }: CatalogEntry, { field, why }: { field: string; why: string }): ServiceError {
  const line = `${field || "arguments"}: ${why}`;
  return new ServiceError(400, "invalid_arguments", `${line}.`, {
    type: "validation",
    details: [line],
    hint: `Send a shorter or simpler value; GET /api/tools/${toolName} shows the full input schema.`,
    extra: { missingFields: [], invalidFields: field === "" ? [] : [field] },
  });
}
