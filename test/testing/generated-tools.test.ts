import { afterAll, describe, expect, test } from "vitest";
import { SvcToolkit } from "../../src/langchain.ts";
import { createScriptedApprover, describeSvcTool, startTestService } from "../../src/testing.ts";

/** The standard checks, applied to every tool of the service and of the plugin itself. */

const service = await startTestService();
const approve = createScriptedApprover(["decline"]);
const toolkit = await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, approve, describeAhead: 117 });
const tools = toolkit.getTools({ limit: 117 });
const countEffects = async () => (await service.effects()).length;

afterAll(async () => {
  await toolkit.close();
  await service.close();
});

for (const tool of tools) describeSvcTool({ tool, countEffects }, { describe, test });

test("covers every tool, and a declined write never happened", async () => {
  expect(tools.length).toBeGreaterThan(30);
  expect(toolkit.session.catalog.list().every(({ name }) => tools.some((tool) => tool.name === name))).toBe(true);
  expect(approve.requests.length).toBeGreaterThan(0);
  expect(await countEffects()).toBe(0);
});
