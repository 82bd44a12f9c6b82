import { describe, expect, test } from "vitest";
import type { McpCall, McpTool } from "../../../src/service/mcp/mcp-features.ts";
import { callTool } from "../../../src/service/mcp/run-method.ts";
import { measureCpuTime } from "../../cpu-time.ts";

const LISTS = { type: "object", additionalProperties: { type: "array", items: { type: "string" } } };

function toolWith(inputSchema: McpTool["inputSchema"]): McpTool {
  return { name: "test_any", description: "Takes anything.", inputSchema, call: async () => ({ content: [] }) };
}

async function findDetails(inputSchema: McpTool["inputSchema"], args: Record<string, unknown>): Promise<unknown> {
  const { structuredContent } = await callTool(
    [toolWith(inputSchema)],
    { name: "test_any", arguments: args },
    // Nothing of it is looked at before the arguments are good.
    {} as McpCall,
  );
  return (structuredContent as { details?: unknown } | undefined)?.details;
}

describe("what is wrong with the arguments of a tool", () => {
  test("is named as it was sent", async () => {
    const schema = { type: "object", properties: {}, additionalProperties: false };
    expect(await findDetails(schema, { "größe/b c": 1 })).toEqual(["größe/b c: expected no value here, got number 1"]);
    expect(await findDetails(LISTS, { list: ["a", 1] })).toEqual([expect.stringMatching(/^list\[1\]: /)]);
  });

  test("below a long name is not looked at without end", async () => {
    const spent = measureCpuTime();
    const details = await findDetails(LISTS, { ["n".repeat(100_000)]: Array(9_000).fill(1) });
    expect(details).toEqual([expect.stringMatching(/^n{499}…: /)]);
    expect(spent()).toBeLessThan(3_000);
  });
});
