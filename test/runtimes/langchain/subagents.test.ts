import { AIMessage } from "@langchain/core/messages";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SvcToolkit } from "../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { closeAll, closeLater } from "../../tools/open-test-session.ts";
import { type AgentState, type RunningAgent, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readTitles, script } from "./agent-kit.ts";

/** An agent that works through another agent: questions come from both at once. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function start(): Promise<RunningAgent> {
  const options = { baseUrl: service.url, apiKey: service.apiKey, integrations: ["notes"] };
  const toolkit = closeLater(await SvcToolkit.create(options));
  const tools = toolkit.getTools();
  const task = { name: "task", args: { description: "Write.", subagent_type: "writer" }, id: "t1" };
  const agent = createDeepAgent({
    model: script([task, note("outer")]),
    tools,
    checkpointer: new MemorySaver(),
    subagents: [
      {
        name: "writer",
        description: "Writes notes.",
        systemPrompt: "Write.",
        tools,
        model: script([note("inner")]),
      },
    ],
  });
  return {
    invoke: async (input, run) => (await agent.invoke(input as never, run as never)) as unknown as AgentState,
    getStateHistory: () => {
      throw new Error("Not needed here.");
    },
  };
}

describe("an agent inside an agent", () => {
  it("gets its own decision, and the outer one its own", async () => {
    const agent = await start();
    const first = await agent.invoke(ask, config);
    expect(
      readAsked(first)
        .map(({ title }) => title)
        .toSorted(),
    ).toEqual(["inner", "outer"]);
    const decide = (title: unknown) => ({ type: title === "inner" ? "approve" : "reject" });
    const { state } = await answerAll(agent, first, decide);
    expect(await readTitles(service)).toEqual(["inner"]);
    expect(AIMessage.isInstance(state.messages.at(-1))).toBe(true);
  });

  it("is not approved by a plain answer while the outer one waits too", async () => {
    const agent = await start();
    await agent.invoke(ask, config);
    const again = await agent.invoke(resume(true), config);
    expect(readAsked(again)).toHaveLength(2);
    expect(await service.effects()).toEqual([]);
    const inner = readAsked(again).find(({ title }) => title === "inner");
    const left = await agent.invoke(resume({ [String(inner?.interruptId)]: true }), config);
    expect(readAsked(left).map(({ title }) => title)).toEqual(["outer"]);
    await agent.invoke(resume(true), config);
    expect(await readTitles(service)).toEqual(["inner", "outer"]);
  });
});
