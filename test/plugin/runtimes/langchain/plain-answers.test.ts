import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AIMessage } from "@langchain/core/messages";
import { interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder } from "../../calls/open-test-session.ts";
import { type AgentState, findAdapter, type RunningAgent, resume } from "./adapters.ts";
import { ask, config, note, readAsked, readStatuses, script } from "./agent-kit.ts";
import { startNode, startTasks, toAgent } from "./graph-kit.ts";

/** A yes without a name, and the questions that it was not given for. */

let service: TestService;
let media: string;
beforeEach(async () => {
  service = closeLater(await startTestService());
  media = await makeFolder();
  await mkdir(join(media, "inbound"));
  await writeFile(join(media, "inbound", "a.txt"), "file\n");
});
afterEach(closeAll);

const open = async (): Promise<SvcToolkit> =>
  closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, mediaRoots: [media] }));

/** An upload: no key hides that it was sent twice. */
function upload(name: string): ReturnType<typeof note> {
  const args = { file: { s3key: "media://inbound/a.txt" }, name, if_exists: "rename" };
  return { name: "drive_upload_file", args, id: name };
}

const countEffects = async () => (await service.effects()).map(({ toolName }) => toolName);
const readNotice = (state: AgentState) => JSON.stringify(state.__interrupt__ ?? []);

const yes = { decisions: [{ type: "approve" }] };
const no = { decisions: [{ type: "reject" }] };
const UPLOADS = [upload("1"), upload("2")];

async function start(name: string, calls = UPLOADS): Promise<RunningAgent> {
  const parts = { toolkit: await open(), model: script(calls), checkpointer: new MemorySaver() };
  return findAdapter(name).start(parts);
}

describe.each(["StateGraph with the prebuilt ToolNode", "createReactAgent"])("in one task: %s", (name) => {
  it.each([
    ["going on without an answer", null],
    ["the same answer again", resume(yes)],
  ])("%s approves nothing that comes after", async (_what, again) => {
    const agent = await start(name);
    await agent.invoke(ask, config);
    await agent.invoke(resume(yes), config);
    const state = await agent.invoke(again, config);
    expect(await countEffects()).toHaveLength(1);
    expect(readAsked(state)).toHaveLength(1);
    expect(readNotice(state)).toContain("Name this question's id");
    await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: true }), config);
    expect(await countEffects()).toHaveLength(2);
  });

  it("deletes nothing on the yes to a note", async () => {
    const folder = { name: "drive_create_folder", args: { path: "New" }, id: "f" };
    const remove = { name: "drive_delete_file", args: { path: "hello.txt" }, id: "d" };
    const agent = await start(name, [note("n"), folder, remove]);
    await agent.invoke(ask, config);
    await agent.invoke(resume(yes), config);
    for (const _ of [1, 2, 3]) await agent.invoke(null, config);
    expect(await countEffects()).toEqual(["notes_create_page"]);
  });

  it("two equal answers at once approve what was shown", async () => {
    const agent = await start(name);
    await agent.invoke(ask, config);
    await Promise.all([agent.invoke(resume(yes), config), agent.invoke(resume(yes), config)]);
    await agent.invoke(null, config);
    expect(await countEffects()).toHaveLength(1);
  });

  it("each is approved by the id of its interrupt, with the same words", async () => {
    const agent = await start(name);
    let state = await agent.invoke(ask, config);
    for (const count of [1, 2]) {
      const [asked] = readAsked(state);
      state = await agent.invoke(resume({ [String(asked?.interruptId)]: yes }), config);
      expect(await countEffects()).toHaveLength(count);
    }
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
  });

  it("an answer by the id of an interrupt counts for no other one", async () => {
    const agent = await start(name);
    const [first] = readAsked(await agent.invoke(ask, config));
    await agent.invoke(resume({ [String(first?.interruptId)]: no }), config);
    const state = await agent.invoke(resume({ [String(first?.interruptId)]: yes }), config);
    expect(readAsked(state)).toHaveLength(1);
    expect(readNotice(state)).toContain("by the id of another interrupt");
    expect(await countEffects()).toEqual([]);
  });
});

const HOST_ANSWERS = [true, "yes", yes];

describe("in a node that asks something itself before", () => {
  it.each(HOST_ANSWERS)("its answer %j approves no call", async (answer) => {
    const tool = (await open()).getTools().find(({ name }) => name === "drive_upload_file");
    const agent = startNode(async (run) => {
      interrupt("Continue with the report?");
      await tool?.invoke(upload("3").args, run);
    });
    await agent.invoke({}, config);
    await agent.invoke(resume(answer), config);
    const state = await agent.invoke(null, config);
    expect(await countEffects()).toEqual([]);
    expect(readAsked(state)).toHaveLength(1);
    await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: true }), config);
    expect(await countEffects()).toHaveLength(1);
  });

  it("and between: the answer to the first call approves no second one", async () => {
    const tool = (await open()).getTools().find(({ name }) => name === "drive_upload_file");
    const agent = startNode(async (run) => {
      await tool?.invoke(upload("1").args, run);
      interrupt("Go on?");
      await tool?.invoke(upload("2").args, run);
    });
    await agent.invoke({}, config);
    await agent.invoke(resume(true), config);
    await agent.invoke(resume("Of course."), config);
    for (const again of [null, resume(true), null]) await agent.invoke(again, config);
    expect(await countEffects()).toHaveLength(1);
  });
});

describe("beside a node that asks something itself", () => {
  type Messages = typeof MessagesAnnotation.State;
  const DONE = new AIMessage("Done.");

  /** What waits of the calls. */
  function withoutHost(state: AgentState): AgentState {
    const waiting = state.__interrupt__ ?? [];
    return { ...state, __interrupt__: waiting.filter(({ value }) => typeof value === "object") };
  }

  /** The agent stands in the same graph, or in one of its own within it. */
  async function startBeside(isNested: boolean, hostAsks: () => unknown): Promise<RunningAgent> {
    const tools = (await open()).getTools({ integrations: ["drive"] });
    const model = script([upload("1")]).respond(DONE);
    const call = async ({ messages }: Messages) => ({ messages: [await model.invoke(messages)] });
    const agent = isNested ? createAgent({ model, tools }).graph : new ToolNode(tools);
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("model", isNested ? () => ({}) : call)
      .addNode("agent", agent)
      .addNode("host", () => {
        hostAsks();
        return {};
      })
      .addEdge(START, "model")
      .addEdge("model", "agent")
      .addEdge("model", "host")
      .compile({ checkpointer: new MemorySaver() });
    return toAgent(graph);
  }

  describe.each([false, true])("(nested: %s)", (isNested) => {
    it.each(HOST_ANSWERS)("one %j for both approves no call", async (answer) => {
      const agent = await startBeside(isNested, () => interrupt("Continue?"));
      expect(readAsked(withoutHost(await agent.invoke(ask, config)))).toHaveLength(1);
      let state = await agent.invoke(resume(answer), config);
      for (const again of [null, resume(answer)]) state = await agent.invoke(again, config);
      expect(await countEffects()).toEqual([]);
      const [asked] = readAsked(withoutHost(state));
      await agent.invoke(resume({ [String(asked?.id)]: true }), config);
      expect(await countEffects()).toHaveLength(1);
    });

    it("a yes by the id of the call's interrupt counts, and so does a plain one once nothing else is open", async () => {
      const agent = await startBeside(isNested, () => interrupt("Continue?"));
      const state = await agent.invoke(ask, config);
      const host = (state.__interrupt__ as { id: string; value: unknown }[]).find(({ value }) => value === "Continue?");
      await agent.invoke(resume({ [String(host?.id)]: "Of course." }), config);
      expect(await countEffects()).toEqual([]);
      await agent.invoke(resume(yes), config);
      expect(await countEffects()).toHaveLength(1);
    });
  });
});

it("in one task of the functional API a yes approves one call", async () => {
  const tool = (await open()).getTools().find(({ name }) => name === "drive_upload_file");
  const both = async () => {
    for (const name of ["1", "2"]) await tool?.invoke({ type: "tool_call", ...upload(name) });
  };
  const agent = startTasks(both, ["both"]);
  await agent.invoke({}, config);
  await agent.invoke(resume(yes), config);
  for (const again of [null, null]) await agent.invoke(again, config);
  expect(await countEffects()).toHaveLength(1);
});

describe("a call that has changed since its yes", () => {
  it.each([null, resume(yes)])("is not approved by the same yes (%j)", async (again) => {
    const agent = await start("createAgent", [upload("1")]);
    await agent.invoke(ask, config);
    await writeFile(join(media, "inbound", "a.txt"), "another file\n");
    await agent.invoke(resume(yes), config);
    const state = await agent.invoke(again, config);
    expect(await countEffects()).toEqual([]);
    await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: true }), config);
    expect(await countEffects()).toHaveLength(1);
  });
});

describe("an agent inside a graph", () => {
  async function startInner(isBatched: boolean): Promise<RunningAgent> {
    const toolkit = await open();
    const middleware = isBatched ? [await createApprovalMiddleware(toolkit)] : [];
    const inner = createAgent({
      model: script([upload("1")], [upload("2")]),
      tools: toolkit.getTools({ integrations: ["drive"] }),
      middleware,
    });
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("inner", inner.graph)
      .addEdge(START, "inner")
      .compile({ checkpointer: new MemorySaver() });
    return toAgent(graph);
  }

  it.each([false, true])(
    "asks for its next call, whatever was said to the last (middleware: %s)",
    async (isBatched) => {
      const agent = await startInner(isBatched);
      await agent.invoke(ask, config);
      await agent.invoke(resume(yes), config);
      expect(await countEffects()).toHaveLength(1);
      let state = await agent.invoke(null, config);
      for (const again of [null, resume(yes)]) state = await agent.invoke(again, config);
      expect(await countEffects()).toHaveLength(1);
      await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: true }), config);
      expect(await countEffects()).toHaveLength(2);
    },
  );
});

describe("going back to a question to change the answer", () => {
  async function answerTwice(name: string, answers: readonly unknown[]) {
    const checkpointer = new MemorySaver();
    const agent = await findAdapter(name).start({
      toolkit: await open(),
      model: script([upload("1")]).respond(new AIMessage("Done.")),
      checkpointer,
    });
    await agent.invoke(ask, config);
    const open_ = agent.getStateHistory(config);
    let question: Record<string, unknown> = config;
    for await (const past of open_) {
      question = past.config;
      break;
    }
    await agent.invoke(resume(answers[0]), config);
    return agent.invoke(resume(answers[1]), question);
  }

  it.each([
    "createAgent",
    "createAgent with the approval middleware",
    "StateGraph with the prebuilt ToolNode",
    "deepagents",
  ])("from no to yes makes the call: %s", async (name) => {
    await answerTwice(name, [no, yes]);
    expect(await countEffects()).toHaveLength(1);
  });

  it("from yes to no leaves it made", async () => {
    const state = await answerTwice("createAgent", [yes, no]);
    expect(readAsked(state)).toEqual([]);
    expect(await countEffects()).toHaveLength(1);
  });
});
