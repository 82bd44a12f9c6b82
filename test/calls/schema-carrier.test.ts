import { DynamicStructuredTool } from "@langchain/core/tools";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { describe, expect, test } from "vitest";
import type { z } from "zod";
import { createSchemaCarrier, isCarrierExact } from "../../src/calls/build.ts";
import { projectToolSchema } from "../../src/schema/project/project-schema.ts";
import { MESSY_SCHEMAS } from "../schema/messy-schemas.ts";

function createTool(schema: z.ZodType) {
  return new DynamicStructuredTool({
    name: "tool",
    description: "A tool.",
    schema,
    func: async (args: unknown) => JSON.stringify(args),
  });
}

describe("LangChain sends a carrier's schema to the model exactly", () => {
  test.each(MESSY_SCHEMAS)("$name", ({ schema }) => {
    const projected = projectToolSchema(schema, { profile: "full" }).schema;
    const sent = convertToOpenAITool(createTool(createSchemaCarrier(projected)));
    expect(JSON.stringify(sent.function.parameters)).toBe(JSON.stringify(projected));
  });

  test("for two tools made of one schema, and again after the first was changed by a provider", () => {
    const projected = projectToolSchema({ type: "object", properties: { a: { type: "string" } } }).schema;
    const [first, second] = [createSchemaCarrier(projected), createSchemaCarrier(projected)];
    Object.assign(convertToOpenAITool(createTool(first)).function.parameters ?? {}, { properties: {} });
    expect(convertToOpenAITool(createTool(second)).function.parameters).toEqual(projected);
    expect(projected.properties).toEqual({ a: { type: "string" } });
  });

  test("and its own parse lets every argument through unchanged", async () => {
    const carrier = createSchemaCarrier({ type: "object", properties: { a: { type: "string", default: "x" } } });
    expect(await createTool(carrier).invoke({ a: 5, other: null })).toBe('{"a":5,"other":null}');
  });
});

describe("isCarrierExact", () => {
  test("is true for LangChain's converter", () => {
    expect(isCarrierExact((schema) => toJsonSchema(schema))).toBe(true);
  });

  test("is false for one that changes, loses or cannot read the schema", () => {
    expect(isCarrierExact(() => ({}))).toBe(false);
    expect(isCarrierExact((schema) => ({ ...Object(toJsonSchema(schema)), additionalProperties: false }))).toBe(false);
    expect(
      isCarrierExact(() => {
        throw new Error("cannot be represented");
      }),
    ).toBe(false);
  });
});
