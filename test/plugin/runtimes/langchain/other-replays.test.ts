import { AIMessage, HumanMessage } from "@langchain/core/messages";
import type { RunnableConfig } from "@langchain/core/runnables";
import { Command, END, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { type AgentState, resume } from "./adapters.ts";
import { config, note, readAsked, readTitles } from "./agent-kit.ts";

/** Ways by which LangGraph runs a node once more after its calls were made: nothing is made twice, and nothing unasked. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const yes = { decisions: [{ type: "approve" }] };

/** A graph of one node of tools; the model has asked for one note. `failing`: how often the node fails after them. */
async function openGraph({ failing = 0 } = {}) {
  const stateDir = await makeFolder();
  const { url: baseUrl, apiKey } = service;
  const toolkit = closeLater(await SvcToolkit.create({ baseUrl, apiKey, stateDir }));
  const tools = new ToolNode(toolkit.getTools({ integrations: ["notes"] }));
  let failures = failing;
  const graph = new StateGraph(MessagesAnnotation)
    .addNode(
      "tools",
      async ({ messages }: typeof MessagesAnnotation.State, run: RunnableConfig) => {
        const asked = messages.findLast((message) => AIMessage.isInstance(message) && message.tool_calls?.length);
        const result = await tools.invoke({ messages: [asked] }, run);
        if (failures > 0) {
          failures -= 1;
          throw new Error("The node failed after its tools.");
        }
        return result;
      },
      { retryPolicy: { maxAttempts: 3, initialInterval: 1, retryOn: () => true } },
    )
    .addEdge(START, "tools")
    .addEdge("tools", END)
    .compile({ checkpointer: new MemorySaver() });
  const invoke = async (input: unknown, run: object = config) =>
    (await graph.invoke(input as never, run)) as unknown as AgentState;
  return { graph, invoke };
}

const call = (title: string) => new AIMessage({ id: "asked", content: "", tool_calls: [note("c1", title)] });
const input = { messages: [new HumanMessage("Please."), call("one")] };

describe("a node that runs once more", () => {
  it("makes its call once where a policy repeats it after a failure", async () => {
    const { invoke } = await openGraph({ failing: 1 });
    expect(readAsked(await invoke(input))).toHaveLength(1);
    expect(readAsked(await invoke(resume(yes)))).toEqual([]);
    expect(await readTitles(service)).toEqual(["one"]);
  });

  it("makes no call again by a command that goes to it", async () => {
    const { invoke } = await openGraph();
    await invoke(input);
    await invoke(resume(yes));
    await invoke(new Command({ goto: "tools" }));
    await invoke(new Command({ goto: "tools" }));
    expect(await readTitles(service)).toEqual(["one"]);
  });

  it("makes no call by a command that goes to it while its question is open", async () => {
    const { invoke } = await openGraph();
    await invoke(input);
    await invoke(new Command({ goto: "tools" }));
    await invoke(new Command({ goto: "tools" }));
    expect(await service.effects()).toEqual([]);
  });

  it.each(["one", "two"])("makes no call again in a fork that an update of the state begins (%s)", async (title) => {
    const { graph, invoke } = await openGraph();
    await invoke(input);
    await invoke(resume(yes));
    const asked: unknown[] = [];
    for await (const past of graph.getStateHistory(config)) {
      if (!past.next.includes("tools")) continue;
      const fork = await graph.updateState(past.config, { messages: [call(title)] }, "__start__");
      for (let again = 0; again < 2; again += 1)
        asked.push(...readAsked(await invoke(null, fork)).map((one) => one.title));
    }
    if (title === "two") expect(asked).toContain("two");
    expect(await readTitles(service)).toEqual(["one"]);
  });

  it("takes no yes to the call of before for other arguments in a fork", async () => {
    const { graph, invoke } = await openGraph();
    await invoke(input);
    const open = await graph.getState(config);
    const fork = await graph.updateState(open.config, { messages: [call("two")] }, "__start__");
    await invoke(resume(yes));
    const asked = readAsked(await invoke(null, fork));
    expect(asked.map(({ title }) => title).filter((title) => title === "one")).toEqual([]);
    const titles = await readTitles(service);
    expect(titles.filter((title) => title === "two")).toEqual([]);
  });
});
