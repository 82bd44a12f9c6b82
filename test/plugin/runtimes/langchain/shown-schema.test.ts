import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { describe, expect, test } from "vitest";
import { projectToolSchema } from "../../../../src/plugin/schema/project/project-schema.ts";
import { createToolOver } from "../../schema/create-tool-over.ts";
import { MESSY_SCHEMAS } from "../../schema/messy-schemas.ts";

const STRICT = { type: "object", properties: { a: { type: "string", default: "x" } }, required: ["b"] };

describe("a tool's schema", () => {
  test.each(MESSY_SCHEMAS)("is sent to a model as it was projected: $name", ({ schema }) => {
    const projected = projectToolSchema(schema, { profile: "full" }).schema;
    const sent = convertToOpenAITool(createToolOver({ name: "tool", schema: projected }));
    expect(JSON.stringify(sent.function.parameters)).toBe(JSON.stringify(projected));
  });

  test("refuses no call: arguments come through unchanged, in calls at the same time too", async () => {
    const tool = createToolOver({ name: "tool", schema: STRICT });
    const call = async (id: string, args: Record<string, unknown>) => {
      const message = await tool.invoke({ type: "tool_call", id, name: "tool", args });
      return message.artifact.result;
    };
    const calls = [call("1", { a: 5, other: null }), call("2", { a: "y" })];
    expect(tool.schema).toBe(STRICT);
    expect(JSON.stringify(await Promise.all(calls))).toBe('[{"a":5,"other":null},{"a":"y"}]');
    expect(JSON.stringify(await tool.invoke({ a: 5 }))).toContain("5");
    expect(tool.schema).toBe(STRICT);
  });
});
