import { z } from "zod";
import { executionSummarySchema } from "../../../wire/execution.ts";
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

/** A shape as JSON Schema: the reader's fallbacks say nothing to a caller, and members that are not named may be anything. */
function describeShape(shape: z.ZodObject): JsonSchema {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(shape, {
    io: "input",
    unrepresentable: "any",
    override({ zodSchema, jsonSchema }) {
      const { type } = zodSchema._zod.def;
      if (type === "catch") delete jsonSchema.default;
      if (type === "object") delete jsonSchema.additionalProperties;
      if (type === "unknown") Object.assign(jsonSchema, ANY_VALUE);
      // The range of whole numbers in JavaScript.
      if (type === "number") for (const end of ["minimum", "maximum"] as const) delete jsonSchema[end];
    },
  });
  return schema;
}

const problemSchema = z.looseObject({
  status: z.literal("failed"),
  error_code: z.string(),
  message: z.string(),
  hint: z.string().optional(),
  details: z.array(z.string()).optional(),
});

/**
 * The schema of a tool's structured content: `shape` when it worked, else a problem with `error_code` and `message`. The
 * root is an object, as the legacy revisions want it.
 */
export function resultSchema(shape: z.ZodObject): JsonSchema {
  return { type: "object", anyOf: [describeShape(shape), describeShape(problemSchema)] };
}

/** The document's "Execution summary". */
export const SUMMARY_SCHEMA: JsonSchema = describeShape(
  executionSummarySchema.extend({
    status: z.enum(["succeeded", "blocked", "failed", "running"]),
    output: z.unknown().optional().describe("What the app answered; present when it succeeded."),
    details: z.array(z.string()).optional(),
  }),
);
