import { isDeepStrictEqual } from "node:util";
import { type ZodType, z } from "zod";
import { cloneJson } from "../../base/json.ts";
import type { JsonSchema } from "../json-schema.ts";

/**
 * Wraps a projected schema in a zod type that accepts anything and, asked for its JSON Schema, answers exactly this
 * one. LangChain then sends our schema as it is and leaves the checking of arguments to us.
 *
 * Call nothing on the result (`.meta`, `.describe`, ...): a chained copy loses the schema. LangChain caches by object,
 * so a changed schema needs a new carrier.
 */
export function createSchemaCarrier(schema: JsonSchema): ZodType {
  const carrier = z.any();
  // The hook zod itself reads before its own conversion; it works across zod copies, unlike metadata registries.
  // An undefined `$schema` keeps zod from adding its own.
  carrier._zod.toJSONSchema = () => ({ ...(cloneJson(schema) as JsonSchema), $schema: undefined });
  return carrier;
}

/** A projection with the parts a converter could lose. */
const SAMPLE: JsonSchema = {
  type: "object",
  properties: {
    to: { type: "array", items: { type: "string", format: "email" }, minItems: 1, examples: [["a@example.com"]] },
    note: { type: ["string", "null"], default: "", description: "Optional note" },
  },
  required: ["to"],
};

/**
 * Start-up check: does the runtime's converter (`toJsonSchema` of `@langchain/core/utils/json_schema`) return a
 * carrier's schema unchanged? When it does not, hand the runtime the projected JSON Schema itself.
 * Never throws.
 */
export function isCarrierExact(toJsonSchema: (schema: ZodType) => unknown): boolean {
  try {
    return isDeepStrictEqual(toJsonSchema(createSchemaCarrier(SAMPLE)), SAMPLE);
  } catch {
    return false;
  }
}
