import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApprovalMiddleware, createDynamicToolsMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { type AgentState, resume } from "./adapters.ts";
import { ask, config, note, readAsked, readTitles, script } from "./agent-kit.ts";

/** A batch that was asked about in another process, with a tool that the conversation had found. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const saver = new MemorySaver();

async function start(model: FakeBuiltModel) {
  const { url, apiKey } = service;
  const toolkit = closeLater(await SvcToolkit.create({ baseUrl: url, apiKey, describeAhead: 0 }));
  const middleware = [await createDynamicToolsMiddleware(toolkit), await createApprovalMiddleware(toolkit)];
  const agent = createAgent({ model, tools: [], checkpointer: saver, middleware });
  return async (input: unknown) => (await agent.invoke(input as never, config)) as unknown as AgentState;
}

it("takes the answers to all of it", async () => {
  const search = { name: "svc_search_tools", args: { query: "create a page" }, id: "s" };
  const wrapped = { name: "svc_call_tool", args: { name: "notes_create_page", arguments: note("w2").args }, id: "w2" };
  const before = await start(
    fakeModel()
      .respondWithTools([search])
      .respondWithTools([note("w1"), wrapped]),
  );
  expect(readAsked(await before(ask)).map(({ title }) => title)).toEqual(["w1", "w2"]);
  const after = await start(script());
  const state = await after(resume({ decisions: [{ type: "approve" }, { type: "approve" }] }));
  expect(readAsked(state)).toEqual([]);
  expect(await readTitles(service)).toEqual(["w1", "w2"]);
});
