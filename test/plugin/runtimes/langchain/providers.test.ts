import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { projectToolSchema } from "../../../../src/index.ts";
import { SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { createToolOver } from "../../schema/create-tool-over.ts";
import { MESSY_SCHEMAS } from "../../schema/messy-schemas.ts";
import { PROVIDERS } from "./provider-clients.ts";
import { findViolations } from "./provider-rules.ts";

/** What really leaves for a model provider; the request is caught and never sent. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

describe.each(PROVIDERS)("$name", (provider) => {
  const { profile } = provider;
  const open = async () =>
    closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, profile }));

  it("gets every tool by the provider's rules, the static ones too", async () => {
    const tools = (await open()).getTools();
    const sent = await provider.send(tools);
    expect(sent.map(({ name, description }) => ({ name, description }))).toEqual(
      tools.map(({ name, description }) => ({ name, description })),
    );
    expect(tools.length).toBeGreaterThan(20);
    expect(sent.flatMap((tool) => findViolations(provider, tool))).toEqual([]);
  });

  it("gets messy schemas by the provider's rules", async () => {
    const tools = MESSY_SCHEMAS.map(({ schema }, index) =>
      createToolOver({ name: `tool_${index}`, schema: projectToolSchema(schema, { profile }).schema }),
    );
    const sent = await provider.send(tools);
    expect(sent).toHaveLength(tools.length);
    expect(sent.flatMap((tool) => findViolations(provider, tool))).toEqual([]);
  });
});

describe.each(PROVIDERS.filter(({ isVerbatim }) => isVerbatim))("$name", (provider) => {
  it("gets the projection of every tool, byte for byte, and the static tools as they are", async () => {
    const toolkit = closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey }));
    const tools = toolkit.getTools();
    for (const [index, { name, schema }] of (await provider.send(tools)).entries()) {
      const tool = tools[index]!;
      const { toolName } = tool.metadata ?? {};
      const entry = toolName === undefined ? undefined : await toolkit.session.catalog.find(String(toolName));
      const shown = entry === undefined ? convertToOpenAITool(tool).function.parameters : entry.inputSchema;
      const expected = entry === undefined ? shown : projectToolSchema(shown, { profile: "full" }).schema;
      expect(JSON.stringify(schema), name).toBe(JSON.stringify(expected));
    }
  });
});
