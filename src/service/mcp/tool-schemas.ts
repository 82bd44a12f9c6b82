import type { JsonSchema } from "../../wire/tool.ts";

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
