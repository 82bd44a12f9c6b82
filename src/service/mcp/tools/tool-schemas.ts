import type { JsonSchema } from "../../../wire/tool.ts";

/** An object schema that takes nothing it does not name. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** A text that is not empty. */
export function textSchema(description: string, maxLength = 200): JsonSchema {
  return { type: "string", minLength: 1, maxLength, description };
}

/** A schema of one value of a result; null when nothing is known. */
export function orNull(schema: JsonSchema): JsonSchema {
  return { anyOf: [schema, { type: "null" }] };
}

const PROBLEM: JsonSchema = {
  type: "object",
  properties: {
    status: { type: "string", enum: ["failed"] },
    error_code: { type: "string" },
    message: { type: "string" },
    hint: { type: "string" },
    details: { type: "array", items: { type: "string" } },
  },
  required: ["status", "error_code", "message"],
};

/**
 * The schema of a tool's structured content: `properties` when it worked, else a problem with `error_code` and
 * `message`. The root is an object, as the legacy revisions want it.
 */
export function resultSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[],
): JsonSchema {
  return { type: "object", anyOf: [{ type: "object", properties, required }, PROBLEM] };
}

/** Slug of an integration. */
export const INTEGRATION_ID = textSchema("Slug of the app, as svc.list_integrations or svc.search give it.");
/** Action id or full tool name. */
export const ACTION_ID = textSchema(
  "Id of the action, as svc.search or svc.list_actions give it, or its full tool name.",
);

/** Any JSON value, spelt out: some clients take an empty schema for a mistake. */
const ANY_VALUE: JsonSchema = {
  anyOf: ["object", "array", "string", "number", "boolean", "null"].map((type) => ({ type })),
};

/** The document's "Execution summary" as JSON Schema. */
export const SUMMARY_SCHEMA: JsonSchema = {
  type: "object",
  properties: {
    execution_id: orNull({ type: "string" }),
    status: { type: "string", enum: ["succeeded", "blocked", "failed", "running"] },
    integration_id: orNull({ type: "string" }),
    action_id: orNull({ type: "string" }),
    started_at: orNull({ type: "string" }),
    finished_at: orNull({ type: "string" }),
    output: { ...ANY_VALUE, description: "What the app answered; present when it succeeded." },
    display: {
      type: "object",
      properties: { title: { type: "string" }, summary: { type: "string" } },
      required: ["title", "summary"],
    },
    error_code: { type: "string" },
    message: { type: "string" },
    hint: { type: "string" },
    details: { type: "array", items: { type: "string" } },
    recommended_next_action: {
      type: "object",
      properties: { tool: { type: "string" }, input: { type: "object" } },
      required: ["tool", "input"],
    },
  },
  required: ["status"],
};

const text: JsonSchema = { type: "string" };
const texts: JsonSchema = { type: "array", items: text };
const flag: JsonSchema = { type: "boolean" };
const count: JsonSchema = { type: "integer" };
const list = (properties: Record<string, JsonSchema>, required: string[]): JsonSchema => ({
  type: "array",
  items: { type: "object", properties, required },
});

const INTEGRATION = {
  integration_id: text,
  name: text,
  category: text,
  summary: text,
  connected: flag,
  connection_state: orNull(text),
  capabilities: texts,
};
const ACTION = { action_id: text, title: text, description: text, side_effect_level: text };

/** Result of `svc.whoami`. */
export const WHOAMI_RESULT = resultSchema(
  { user_id: text, credential_id: text, base_url: text, connected_integrations: texts, action_count: count },
  ["user_id", "connected_integrations"],
);

/** Result of `svc.search`: the document's `{ items }` of "Catalog search items". */
export const SEARCH_RESULT = resultSchema(
  {
    items: list(
      {
        kind: text,
        integration_id: text,
        action_id: orNull(text),
        title: text,
        summary: text,
        connected: flag,
        connection_state: orNull(text),
      },
      ["kind", "integration_id"],
    ),
  },
  ["items"],
);

/** Result of `svc.list_integrations`. */
export const INTEGRATION_LIST_RESULT = resultSchema(
  { items: list(INTEGRATION, ["integration_id", "connected"]), page: count, page_size: count, total: count },
  ["items", "page", "page_size", "total"],
);

/** Result of `svc.get_integration`. */
export const INTEGRATION_RESULT = resultSchema({ ...INTEGRATION, actions: list(ACTION, ["action_id"]) }, [
  "integration_id",
  "connected",
  "actions",
]);

/** Result of `svc.list_actions`. */
export const ACTION_LIST_RESULT = resultSchema({ integration_id: text, items: list(ACTION, ["action_id"]) }, [
  "integration_id",
  "items",
]);

/** Result of `svc.get_action`: the document's "Action detail". */
export const ACTION_DETAIL_RESULT = resultSchema(
  {
    ...ACTION,
    integration_id: text,
    tool_name: text,
    idempotent: flag,
    input_schema: { type: "object" },
    input_summary: {
      type: "object",
      properties: { required: texts, optional: texts },
      required: ["required", "optional"],
    },
    requires_confirmation: flag,
    examples: { type: "array" },
    preconditions: { type: "array" },
  },
  ["action_id", "input_schema", "input_summary", "requires_confirmation", "side_effect_level"],
);
