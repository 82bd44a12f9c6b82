import type { ZodType } from "zod";
import { createSchemaCarrier, isCarrierExact } from "../schema/schema-carrier.ts";
import type { JsonSchema } from "../wire/tool.ts";

/** How a runtime turns a zod type into the JSON Schema its models get. */
export type SchemaConverter = (schema: ZodType) => unknown;

const verdicts = new WeakMap<SchemaConverter, boolean>();

/**
 * The form in which a runtime that expects zod takes a schema: a carrier that accepts every input, so that checking
 * stays with the pipeline; or the JSON Schema itself when the runtime's converter would not give it back unchanged.
 */
export function carrySchema(schema: JsonSchema, toJsonSchema: SchemaConverter): ZodType | JsonSchema {
  const isExact = verdicts.get(toJsonSchema) ?? isCarrierExact(toJsonSchema);
  verdicts.set(toJsonSchema, isExact);
  return isExact ? createSchemaCarrier(schema) : schema;
}
