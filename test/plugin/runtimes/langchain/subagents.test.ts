import { join } from "node:path";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { type RunningAgent, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readTitles, script } from "./agent-kit.ts";
import { FileSaver } from "./file-saver.ts";
import { toAgent } from "./graph-kit.ts";

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
  return toAgent(agent);
}

describe("an agent inside an agent", () => {
  it("gets its own decision, and the outer one its own", async () => {
    const agent = await start();
    const decide = (title: unknown) => ({ type: title === "inner" ? "approve" : "reject" });
    const { state, interrupts } = await answerAll(agent, await agent.invoke(ask, config), decide);
    expect(interrupts).toEqual([1, 1]);
    expect(await readTitles(service)).toEqual(["inner"]);
    expect(AIMessage.isInstance(state.messages.at(-1))).toBe(true);
  });

  it("is not approved by the plain answer to the outer one, nor the other way round", async () => {
    const agent = await start();
    const first = readAsked(await agent.invoke(ask, config));
    const second = readAsked(await agent.invoke(resume(true), config));
    expect(await readTitles(service)).toEqual(first.map(({ title }) => title));
    expect([...first, ...second].map(({ title }) => title).toSorted()).toEqual(["inner", "outer"]);
    for (const input of [resume(true), null]) await agent.invoke(input, config);
    expect(await service.effects()).toHaveLength(1);
    await agent.invoke(resume({ [String(second[0]?.id)]: true }), config);
    expect(await readTitles(service)).toEqual(["inner", "outer"]);
  });
});

describe.each([
  ["without the approval middleware", false],
  ["with an approval middleware of their own", true],
])("two agents inside an agent that do the same, %s", (_name, isBatched) => {
  const task = (id: string) => ({ name: "task", args: { description: id, subagent_type: "writer" }, id });

  /** Everything made anew, as in a new process; what the models said is in the checkpoints. */
  async function restart(file: string, stateDir: string, model: FakeBuiltModel): Promise<RunningAgent> {
    const options = { baseUrl: service.url, apiKey: service.apiKey, integrations: ["notes"], stateDir };
    const toolkit = closeLater(await SvcToolkit.create({ ...options, idempotencyKeys: "off" }));
    const tools = toolkit.getTools();
    // Both ask for the same call under the same id: only where they are tells them apart.
    const write = (messages: BaseMessage[]) =>
      messages.some((message) => ToolMessage.isInstance(message))
        ? new AIMessage("Written.")
        : new AIMessage({ content: "", tool_calls: [note("inner")] });
    const inner = fakeModel().respond(write).respond(write).respond(write).respond(write);
    const middleware = isBatched ? [await createApprovalMiddleware(toolkit)] : [];
    const writer = { name: "writer", description: "Writes.", systemPrompt: "Write.", tools, model: inner, middleware };
    return toAgent(createDeepAgent({ model, tools, checkpointer: new FileSaver(file), subagents: [writer] }));
  }

  it("are two calls, each with its own decision, in a new process too", async () => {
    const folder = await makeFolder();
    const [file, stateDir] = [join(folder, "checkpoints"), join(folder, "state")];
    const before = await restart(file, stateDir, script([task("t1"), task("t2")]));
    const [one] = readAsked(await before.invoke(ask, config));
    const after = await restart(file, stateDir, script());
    const [two] = readAsked(await after.invoke(resume({ [String(one?.interruptId)]: true }), config));
    expect(two?.title).toBe("inner");
    expect(two?.id).not.toBe(one?.id);
    const later = await restart(file, stateDir, script());
    const state = await later.invoke(resume({ [String(two?.interruptId)]: "reject" }), config);
    expect(readAsked(state)).toEqual([]);
    expect(await readTitles(service)).toEqual(["inner"]);
    const ended = state.messages.filter((message) => ToolMessage.isInstance(message));
    expect(ended.map((message) => message.tool_call_id).toSorted()).toEqual(["t1", "t2"]);
  });
});
