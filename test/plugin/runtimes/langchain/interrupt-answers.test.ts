import { MemorySaver } from "@langchain/langgraph";
import type { HITLRequest } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isApprovalInterrupt, readOutcome, SvcToolkit } from "../../../../src/langchain.ts";
import { splitInterruptAnswer } from "../../../../src/plugin/runtimes/langchain/interrupt-answer.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { ADAPTERS, type AgentState, type RunningAgent, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readResults, readStatuses, readTitles, script } from "./agent-kit.ts";
import { showInChatUi, showInInbox, showInLangChain } from "./interfaces.ts";

/** What interfaces show and what they send back. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const start = (way: string, ...titles: string[]) =>
  startWith(
    way,
    titles.map((title) => note(title)),
  );

async function startWith(
  name: string,
  calls: ReturnType<typeof note>[],
): Promise<{ agent: RunningAgent; stopped: AgentState }> {
  const options = { baseUrl: service.url, apiKey: service.apiKey, integrations: ["notes"] };
  const toolkit = closeLater(await SvcToolkit.create(options));
  const adapter = ADAPTERS.find((candidate) => candidate.name === name);
  if (adapter === undefined) throw new Error(`No adapter ${name}`);
  const model = script(calls);
  const agent = await adapter.start({ toolkit, model, checkpointer: new MemorySaver() });
  return { agent, stopped: await agent.invoke(ask, config) };
}

const args = (title: string) => ({ title, body: "text" });
const name = "notes_create_page";

describe("the payload", () => {
  it("is shown by agent-chat-ui, agent-inbox and code written for LangChain's middleware", async () => {
    const { stopped } = await start("createAgent", "w1");
    const value = stopped.__interrupt__?.[0]?.value;
    const description = expect.stringContaining("Approval needed");
    const action = { name, args: args("w1"), description };
    expect(showInChatUi(value)).toEqual([{ ...action, buttons: ["approve", "edit", "reject"] }]);
    expect(showInInbox(value)).toEqual([{ ...action, buttons: ["accept", "edit", "respond", "ignore"] }]);
    expect(showInLangChain(value)).toEqual([{ ...action, buttons: ["approve", "edit", "reject"] }]);
    expect(value?.svc).toMatchObject({
      version: 1,
      questions: [{ id: readAsked(stopped)[0]?.id, kind: "approval", tool: name, effect: "write", files: [] }],
    });
    expect(JSON.stringify(value)).not.toContain(service.apiKey);
  });

  it("shows a whole batch", async () => {
    const { stopped } = await start("createAgent with the approval middleware", "a", "b");
    const value = stopped.__interrupt__?.[0]?.value;
    for (const show of [showInChatUi, showInInbox, showInLangChain]) {
      expect(show(value)).toMatchObject([{ args: args("a") }, { args: args("b") }]);
    }
  });
});

describe("its size", () => {
  const body = "x".repeat(100_000);

  it.each(["createAgent", "createAgent with the approval middleware"])(
    "is at most twice that of long arguments: %s",
    async (way) => {
      const { stopped } = await startWith(way, [{ ...note("w1"), args: { title: "w1", body } }]);
      const value = stopped.__interrupt__?.[0]?.value;
      expect(JSON.stringify(value).length).toBeLessThan(2 * body.length + 16_000);
      for (const show of [showInChatUi, showInLangChain]) expect(show(value)).toMatchObject([{ args: { body } }]);
    },
  );
});

describe("our own words for it", () => {
  it("are known by a guard, and fit LangChain's type", async () => {
    const { stopped } = await start("createAgent", "w1");
    const value: unknown = stopped.__interrupt__?.[0]?.value;
    if (!isApprovalInterrupt(value)) throw new Error("not ours");
    const request: HITLRequest = value;
    expect(request.actionRequests).toHaveLength(1);
    const [question] = value.svc.questions;
    expect(question?.kind === "approval" && question.effect).toBe("write");
    expect(question?.id).toBe(value.actionRequests[0]?.id);
    for (const other of [undefined, null, "text", {}, { actionRequests: [] }, { ...value, svc: { version: 2 } }]) {
      expect(isApprovalInterrupt(other)).toBe(false);
    }
  });

  it("tell how a call ended", async () => {
    const { agent } = await start("createAgent", "w1");
    const { messages } = await agent.invoke(resume(true), config);
    expect(messages.map((message) => readOutcome(message)?.status)).toEqual([
      undefined,
      undefined,
      "succeeded",
      undefined,
    ]);
    expect(readOutcome({ artifact: { status: "success" } })).toBeUndefined();
  });

  it("name the way out when the same words come for two questions", async () => {
    const { agent } = await start("createAgent", "a", "b");
    await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
    const again = await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
    expect(again.__interrupt__?.[0]?.value.svc).toMatchObject({
      notice: expect.stringContaining("createApprovalMiddleware"),
    });
  });

  it("say that an edit cannot change the tool", async () => {
    const { agent } = await start("createAgent", "w1");
    const edit = { type: "edit", editedAction: { name: "notes_delete_page", args: {} } };
    const again = await agent.invoke(resume({ decisions: [edit] }), config);
    expect(again.__interrupt__?.[0]?.value.svc).toMatchObject({
      notice: "An edit cannot change the tool: edit the arguments of notes_create_page, or reject the call.",
    });
  });
});

/** Every way to say it, and what must have been written. */
const ANSWERS: [string, unknown, string[], string][] = [
  ["LangChain approve", { decisions: [{ type: "approve" }] }, ["w1"], "succeeded"],
  ["LangChain edit", { decisions: [{ type: "edit", editedAction: { name, args: args("x") } }] }, ["x"], "succeeded"],
  ["LangChain reject", { decisions: [{ type: "reject", message: "no" }] }, [], "declined"],
  [
    "agent-chat-ui edit",
    { decisions: [{ type: "edit", edited_action: { name, args: args("x") } }] },
    ["x"],
    "succeeded",
  ],
  ["agent-inbox accept", [{ type: "accept", args: null }], ["w1"], "succeeded"],
  ["agent-inbox accept, no list", { type: "accept", args: null }, ["w1"], "succeeded"],
  ["agent-inbox edit", [{ type: "edit", args: { action: name, args: args("x") } }], ["x"], "succeeded"],
  ["agent-inbox response", [{ type: "response", args: "use another title" }], [], "declined"],
  ["agent-inbox ignore", [{ type: "ignore", args: null }], [], "declined"],
  ["true", true, ["w1"], "succeeded"],
  ["a word", "approve", ["w1"], "succeeded"],
  ["another word", "reject", [], "declined"],
  ["a sentence", "not before Monday", [], "declined"],
];

describe("an answer", () => {
  it.each(ANSWERS)("%s", async (_name, answer, titles, status) => {
    const { agent } = await start("createAgent", "w1");
    const state = await agent.invoke(resume(answer), config);
    expect(await readTitles(service)).toEqual(titles);
    expect(readStatuses(state)).toEqual([status]);
  });

  it.each(ANSWERS)(
    "%s, by interrupt id, by our id, and before a retry middleware",
    async (_name, answer, titles, status) => {
      const { agent, stopped } = await start(
        "createAgent with the approval middleware before a retry middleware",
        "w1",
      );
      const [asked] = readAsked(stopped);
      const byOurId = { [String(asked?.id)]: answer };
      const state = await agent.invoke(resume({ [String(asked?.interruptId)]: byOurId }), config);
      expect(await readTitles(service)).toEqual(titles);
      expect(readStatuses(state)).toEqual([status]);
    },
  );

  it("false, by interrupt id", async () => {
    const { agent, stopped } = await start("createAgent", "w1");
    const state = await agent.invoke(resume({ [String(stopped.__interrupt__?.[0]?.id)]: false }), config);
    expect(readStatuses(state)).toEqual(["declined"]);
    expect(await service.effects()).toEqual([]);
  });

  it("passes a human's words on to the model", async () => {
    const { agent } = await start("createAgent", "w1");
    const state = await agent.invoke(resume([{ type: "response", args: "use another title" }]), config);
    expect(String(readResults(state)[0]?.content)).toContain("use another title");
  });

  it.each<[string, unknown]>([
    ["something else", { hello: "there" }],
    [
      "an edit of another tool",
      { decisions: [{ type: "edit", editedAction: { name: "notes_delete_page", args: {} } }] },
    ],
    ["an edit without arguments", { decisions: [{ type: "edit" }] }],
    ["a decision for another request", { "00000000-0000-0000-0000-000000000000": true }],
    ["a decision that names another request", { decisions: [{ type: "approve", id: "other" }] }],
    ["no decisions", { decisions: [] }],
    ["too many decisions", { decisions: [{ type: "approve" }, { type: "approve" }] }],
    ["a number", 1],
  ])("that is %s approves nothing and is asked for again", async (_name, answer) => {
    const { agent } = await start("createAgent", "w1");
    const again = await agent.invoke(resume(answer), config);
    expect(again.__interrupt__).toHaveLength(1);
    expect(again.__interrupt__?.[0]?.value.description).toMatch(/^(?!```)[\s\S]+\n\n```\nApproval needed\n/);
    expect(await service.effects()).toEqual([]);
    const state = await agent.invoke(resume(true), config);
    expect(await readTitles(service)).toEqual(["w1"]);
    expect(readStatuses(state)).toEqual(["succeeded"]);
  });

  it("that was refused stays refused when a later answer says no", async () => {
    const { agent } = await start("createAgent", "a", "b");
    let state = await agent.invoke(resume({ hello: "there" }), config);
    expect(state.__interrupt__).toHaveLength(1);
    expect(await service.effects()).toEqual([]);
    ({ state } = await answerAll(agent, state, (title) => ({ type: title === "a" ? "approve" : "reject" })));
    expect(await readTitles(service)).toEqual(["a"]);
    expect(readStatuses(state).toSorted()).toEqual(["declined", "succeeded"]);
  });

  it("for a batch counts by place, or for the one it names", async () => {
    const { agent, stopped } = await start("createAgent with the approval middleware", "a", "b", "c");
    const [first, , third] = readAsked(stopped);
    let state = await agent.invoke(resume({ decisions: [{ type: "approve", id: third?.id }] }), config);
    expect(readAsked(state).map(({ title }) => title)).toEqual(["a", "b"]);
    state = await agent.invoke(resume({ [String(first?.id)]: "reject" }), config);
    expect(readAsked(state).map(({ title }) => title)).toEqual(["b"]);
    expect(await service.effects()).toEqual([]);
    state = await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
    expect(await readTitles(service)).toEqual(["b", "c"]);
    expect(readStatuses(state)).toEqual(["declined", "succeeded", "succeeded"]);
  });
});

describe("splitInterruptAnswer", () => {
  it("finds the parts that name a question, however deep", () => {
    const { named, plain } = splitInterruptAnswer({ abc: { one: [{ type: "accept" }] } }, ["one", "two"], "abc");
    expect(named.get("one")?.decision).toEqual({ type: "approve", always: false });
    expect(plain).toEqual([]);
  });

  it("counts nothing without a name beside something with one", () => {
    const { named, plain } = splitInterruptAnswer([{ type: "accept", id: "one" }, true], ["one", "two"], undefined);
    expect([...named.keys()]).toEqual(["one"]);
    expect(plain).toEqual([]);
  });
});
