import type { JsonSchema } from "../../../shared/wire/tool.ts";

/** An object schema that takes nothing it does not name. */
export function objectSchema(
  properties: Readonly<Record<string, JsonSchema>>,
  required: readonly string[] = [],
): JsonSchema {
  return { type: "object", properties, ...(required.length > 0 && { required }), additionalProperties: false };
}

/** A text. Whoever reads it bounds its length: a model reads every limit that a schema names. */
export function textSchema(description: string): JsonSchema {
  return { type: "string", description };
}

/** Slug of an integration. */
export const INTEGRATION_ID = textSchema("Slug of the app.");
/** Action id or full tool name. */
export const ACTION_ID = textSchema("Id of the action.");
