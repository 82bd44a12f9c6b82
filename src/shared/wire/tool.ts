import { z } from "zod";
import { toDoubles } from "../base/exact-number.ts";
import { parseJson } from "../base/json.ts";

/** A JSON Schema as it travels; its content is judged in the schema room, not here. */
export const jsonSchemaSchema = z.record(z.string(), z.unknown());
export type JsonSchema = z.infer<typeof jsonSchemaSchema>;

/** Characters of a schema sent as JSON text that are still read. */
const MAX_SCHEMA_TEXT = 1024 * 1024;

/**
 * A schema where a service sends one: as an object, or as the JSON text of one, which is read here once. Its bounds are plain
 * numbers.
 */
export const sentSchemaSchema = z.preprocess(readSchemaText, jsonSchemaSchema.nullable()).optional();

function readSchemaText(sent: unknown): unknown {
  if (typeof sent !== "string" || sent.length > MAX_SCHEMA_TEXT) return toDoubles(sent);
  const schema = parseJson(sent);
  return schema === undefined ? sent : toDoubles(schema);
}

/** "Tool". `name` is null only on a truncation notice; `inputSchema` is complete only in a describe answer. */
export const toolSchema = z.looseObject({
  integration: z.string().nullish(),
  name: z.string().nullish(),
  description: z.string().nullish(),
  inputSchema: sentSchemaSchema.catch(null),
  canonical: z.looseObject({}).nullish().catch(undefined),
});
export type Tool = z.infer<typeof toolSchema>;

/** A list as far as it can be read: an entry of another shape is left out and costs no other one. */
export function readableItems<Item>(item: z.ZodType<Item>) {
  return z.array(z.unknown()).transform((items) => items.flatMap((one) => item.safeParse(one).data ?? []));
}

/** Answer of `GET /api/tools`. `count` is the number of tools in the page, `total` all of the user's. */
export const toolListSchema = z.looseObject({
  tools: readableItems(toolSchema),
  count: z.int().optional().catch(undefined),
  total: z.int().optional().catch(undefined),
  truncated: z.boolean().optional().catch(undefined),
  integration: z.string().nullish().catch(undefined),
});
export type ToolList = z.infer<typeof toolListSchema>;

/** Answer of `GET /api/tools/search`. */
export const toolSearchSchema = z.looseObject({
  tools: readableItems(toolSchema),
  count: z.int().optional().catch(undefined),
  query: z.string().optional().catch(undefined),
  integration: z.string().nullish().catch(undefined),
});
export type ToolSearch = z.infer<typeof toolSearchSchema>;

/** Answer of `GET /api/tools/{name}`. */
export const toolDescriptionSchema = z.looseObject({ tool: toolSchema });
export type ToolDescription = z.infer<typeof toolDescriptionSchema>;

/** Query of `GET /api/tools`. `limit` is 1 to 200, default 50; a larger one is sent as 200. */
export interface ToolListQuery {
  readonly integration?: string | undefined;
  readonly limit?: number | undefined;
}

/** Query of `GET /api/tools/search`. */
export interface ToolSearchQuery extends ToolListQuery {
  readonly query: string;
}

/** A JSON object as it is, with every member: `z.record` leaves one out that is called `__proto__`. */
export const jsonObject = z.custom<Record<string, unknown>>(
  (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  "must be an object",
);

/** The same for arguments whose JSON Schema a model is shown: an object with any members. */
export const openArguments = z.unknown().meta({ type: "object", additionalProperties: {} }).pipe(jsonObject);
