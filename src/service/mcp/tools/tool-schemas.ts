import type { JsonSchema } from "../../../wire/tool.ts";

/** An object schema that takes nothing it does not name. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** A text of at most 200 characters, where nothing else is said. */
export function textSchema(description: string, maxLength = 200): JsonSchema {
  return { type: "string", maxLength, description };
}

/** Slug of an integration. */
export const INTEGRATION_ID = textSchema("Slug of the app.");
/** Action id or full tool name. */
export const ACTION_ID = textSchema("Id of the action, or its full tool name.");
