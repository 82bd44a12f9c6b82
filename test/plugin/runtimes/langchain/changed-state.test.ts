import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { type AgentState, resume } from "./adapters.ts";
import { ask, config, note, readAsked, readTitles, script } from "./agent-kit.ts";

/** Somebody changes the state of a graph while a question is open. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

it.each(["without the middleware", "with the middleware"])(
  "an answer counts for nothing that took the place of what was shown, %s",
  async (way) => {
    const toolkit = closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey }));
    const middleware = way === "with the middleware" ? [await createApprovalMiddleware(toolkit)] : [];
    const agent = createAgent({
      model: script([note("w1", "shown")]),
      tools: toolkit.getTools(),
      checkpointer: new MemorySaver(),
      middleware,
    });
    const invoke = async (input: unknown) => (await agent.invoke(input as never, config)) as unknown as AgentState;
    const [, asking] = (await invoke(ask)).messages;
    const calls = [{ ...note("w1", "not shown"), type: "tool_call" as const }];
    const changed = new AIMessage({ content: "", tool_calls: calls, ...(asking?.id ? { id: asking.id } : {}) });
    await agent.graph.updateState(config, { messages: [changed] }, "model_request");
    const again = await invoke(resume(true));
    expect(readAsked(again).map(({ title }) => title)).toEqual(["not shown"]);
    expect(await service.effects()).toEqual([]);
    // LangGraph still holds the first answer: the same words do not count without the question's name.
    await invoke(resume(true));
    expect(await service.effects()).toEqual([]);
    await invoke(resume({ [String(readAsked(again)[0]?.id)]: true }));
    expect(await readTitles(service)).toEqual(["not shown"]);
  },
);
