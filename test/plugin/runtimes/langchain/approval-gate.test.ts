import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { InMemoryStore, interrupt, MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { createApprovalMiddleware, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { addConnection, startProbeService } from "../../../contract/probe-service.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";
import { type AgentParts, findAdapter, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readStatuses, readTitles, resumeFirst, script } from "./agent-kit.ts";

/** What the gate does beyond yes and no. */

const PLAIN = findAdapter("createAgent");
const FIRST = findAdapter("createAgent with the approval middleware before a retry middleware");
const NODE = findAdapter("StateGraph with the prebuilt ToolNode");
const yes = { decisions: [{ type: "approve" }] };

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function open(change: Partial<SvcToolkitOptions> = {}, at: TestService = service): Promise<SvcToolkit> {
  return closeLater(await SvcToolkit.create({ baseUrl: at.url, apiKey: at.apiKey, idempotencyKeys: "off", ...change }));
}

async function start(adapter: typeof PLAIN, parts: Omit<AgentParts, "checkpointer">) {
  return adapter.start({ checkpointer: new MemorySaver(), ...parts });
}

describe("who is asked", () => {
  it("is the host's callback where a graph cannot be resumed", async () => {
    const toolkit = await open({ approve: async (request) => sayYes(request) });
    const tool = toolkit.getTools().find(({ name }) => name === "notes_create_page");
    const message: unknown = await tool?.invoke({ type: "tool_call", ...note("w1") });
    expect(message).toMatchObject({ artifact: { status: "succeeded" } });
    expect(await readTitles(service)).toEqual(["w1"]);
  });

  it("is a callback that was given, also where the graph could be resumed: a checkpointer may be there for memory", async () => {
    const toolkit = await open({ approve: async (request) => sayYes(request) });
    const agent = await start(PLAIN, { toolkit, model: script([note("w1")]) });
    expect(readStatuses(await agent.invoke(ask, config))).toEqual(["succeeded"]);
    await expect(createApprovalMiddleware(toolkit)).rejects.toMatchObject({ code: "invalid_config", field: "approve" });
  });

  it("is the graph's own interrupt beside a callback when the host says so", async () => {
    const toolkit = await open({ approve: async (request) => sayYes(request), askThrough: "interrupt" });
    const agent = await start(PLAIN, { toolkit, model: script([note("w1")]) });
    expect(readAsked(await agent.invoke(ask, config))).toHaveLength(1);
    expect(await service.effects()).toEqual([]);
  });

  it.each([PLAIN, FIRST])("is the callback when the host wants that: $name", async (adapter) => {
    const toolkit = await open({ approve: async (request) => sayYes(request), askThrough: "callback" });
    const agent = await start(adapter, { toolkit, model: script([note("w1")]) });
    expect(readStatuses(await agent.invoke(ask, config))).toEqual(["succeeded"]);
  });

  it("is nobody without either: the outcome says so", async () => {
    const toolkit = await open();
    const tool = toolkit.getTools().find(({ name }) => name === "notes_create_page");
    const message: unknown = await tool?.invoke({ type: "tool_call", ...note("w1") });
    expect(message).toMatchObject({ status: "error", artifact: { status: "needs_approval" } });
  });

  it("is not asked again for what a human allowed for good", async () => {
    const toolkit = await open();
    const agent = await start(PLAIN, { toolkit, model: script([note("w1")], [note("w2")]) });
    await agent.invoke(ask, config);
    const state = await agent.invoke(resume({ decisions: [{ type: "approve", always: true }] }), config);
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(toolkit.session.rules.list()).toHaveLength(1);
  });
});

describe("what was shown", () => {
  it.each([PLAIN, FIRST, NODE])("must be what is sent: a changed file is asked about again: $name", async (adapter) => {
    const media = await makeFolder();
    const path = join(media, "cat.txt");
    await writeFile(path, "meow");
    const toolkit = await open({ mediaRoots: [media] });
    const upload = { name: "drive_upload_file", args: { file: path, folder: "pets" }, id: "w1" };
    const agent = await start(adapter, { toolkit, model: script([upload]) });
    await agent.invoke(ask, config);
    await writeFile(path, "something else");
    const again = await agent.invoke(resume(yes), config);
    expect(JSON.stringify(again.__interrupt__)).toContain("has changed since you were asked");
    expect(await service.effects()).toEqual([]);
    const state = await agent.invoke(resumeFirst(again, yes), config);
    expect(readStatuses(state)).toEqual(["succeeded"]);
    expect(await service.effects()).toHaveLength(1);
  });

  it.each([PLAIN, FIRST])("expires: $name", async (adapter) => {
    const clock = { now: Date.now() };
    const toolkit = await open({ now: () => clock.now, interruptTtlMs: 60_000 });
    const agent = await start(adapter, { toolkit, model: script([note("w1")]) });
    await agent.invoke(ask, config);
    clock.now += 61_000;
    const again = await agent.invoke(resume(yes), config);
    expect(JSON.stringify(again.__interrupt__)).toContain("after the request had expired");
    expect(await service.effects()).toEqual([]);
    await agent.invoke(resumeFirst(again, yes), config);
    expect(await readTitles(service)).toEqual(["w1"]);
  });
});

describe("a confirmation nobody expected", () => {
  it.each([PLAIN, FIRST, NODE])("reaches the human, and the call is made once: $name", async (adapter) => {
    const probe = closeLater(await startProbeService());
    const toolkit = await open({}, probe);
    const echo = probe.probe.integration.actions.find((action) => action.id === "echo");
    Object.assign(echo ?? {}, { level: "write", requiresConfirmation: true });
    const call = { name: "probe_echo", args: { text: "hello" }, id: "w1" };
    const agent = await start(adapter, { toolkit, model: script([call]), integrations: ["probe"] });
    const stopped = await agent.invoke(ask, config);
    expect(readAsked(stopped)).toHaveLength(1);
    expect(probe.probe.calls).toEqual([]);
    const state = await agent.invoke(resume(yes), config);
    expect(readStatuses(state)).toEqual(["succeeded"]);
    expect(probe.probe.calls).toHaveLength(1);
  });
});

describe("the journal in the caller's store", () => {
  const run = { type: "tool_call", ...note("w1") } as const;

  it("answers a finished call in another process without a state folder", async () => {
    const store = new InMemoryStore();
    const run1 = { configurable: { thread_id: "t", checkpoint_id: "c" }, store };
    for (const expected of ["succeeded", "succeeded"]) {
      const toolkit = await open({ approve: async (request) => sayYes(request) });
      const tool = toolkit.getTools().find(({ name }) => name === "notes_create_page");
      expect(await tool?.invoke(run, run1)).toMatchObject({ artifact: { status: expected } });
    }
    expect(await readTitles(service)).toEqual(["w1"]);
    expect(JSON.stringify(await store.search([]))).not.toContain(service.apiKey);
  });

  it.each([PLAIN, NODE])("keeps a step back in time from writing again in a new process: $name", async (adapter) => {
    const [store, checkpointer] = [new InMemoryStore(), new MemorySaver()];
    const agent = await adapter.start({ toolkit: await open(), model: script([note("w1")]), checkpointer, store });
    await agent.invoke(ask, config);
    await agent.invoke(resume(yes), config);
    const later = await adapter.start({ toolkit: await open(), model: script(), checkpointer, store });
    for await (const past of later.getStateHistory(config)) {
      if (!past.next.includes("tools")) continue;
      expect(readStatuses(await later.invoke(null, past.config))).toEqual(["succeeded"]);
    }
    expect(await readTitles(service)).toEqual(["w1"]);
  });

  it("that cannot keep how far a graph is costs no approval", async () => {
    const store = new InMemoryStore();
    const put = store.put.bind(store);
    store.put = async (...[namespace, key, value, index]) => {
      if (value.fingerprint === "step of a graph") throw new Error("disk full");
      return put(namespace, key, value, index);
    };
    const agent = await start(NODE, { toolkit: await open(), model: script([note("w1"), note("w2")]), store });
    const { state } = await answerAll(agent, await agent.invoke(ask, config), () => ({ type: "approve" }));
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["w1", "w2"]);
  });

  it("that cannot be written sends nothing", async () => {
    const store = new InMemoryStore();
    store.put = () => Promise.reject(new Error("disk full at /var/lib/store"));
    const toolkit = await open({ approve: async (request) => sayYes(request) });
    const tool = toolkit.getTools().find(({ name }) => name === "notes_create_page");
    const message: unknown = await tool?.invoke(run, { configurable: { thread_id: "t" }, store });
    expect(message).toMatchObject({ artifact: { status: "failed", code: "internal" } });
    expect(JSON.stringify(message)).not.toContain("/var/lib");
    expect(await service.effects()).toEqual([]);
  });
});

describe("a question of the host's own tool", () => {
  it("comes after the approval middleware's, which asks before any tool runs", async () => {
    const question = new DynamicStructuredTool({
      name: "ask_user",
      description: "Asks.",
      schema: z.object({}),
      func: async () => String(interrupt("Which colour?")),
    });
    const batch = [note("w1"), { name: "ask_user", args: {}, id: "q1" }];
    const agent = await start(FIRST, { toolkit: await open(), model: script(batch), more: [question] });
    expect(readAsked(await agent.invoke(ask, config)).map(({ title }) => title)).toEqual(["w1"]);
    await agent.invoke(resume(yes), config);
    expect(await readTitles(service)).toEqual(["w1"]);
  });
});

describe("several accounts", () => {
  const echo = (id: string) => ({ name: "probe_echo", args: { text: id }, id });

  async function startTwo() {
    const probe = closeLater(await startProbeService());
    const second = await addConnection(probe.service, "Second");
    return { probe, second };
  }

  it.each([
    ["by id", (id: string) => id],
    ["by label", () => "second"],
    [
      "in an edit",
      (id: string) => ({
        decisions: [{ type: "edit", editedAction: { name: "choose_account", args: { connection: id } } }],
      }),
    ],
    ["in agent-inbox's words", () => [{ type: "response", args: "Second" }]],
  ])("are asked about with their labels, answered %s, and not remembered", async (_name, answer) => {
    const { probe, second } = await startTwo();
    const toolkit = await open({}, probe);
    const agent = await start(PLAIN, { toolkit, model: script([echo("a")], [echo("b")]), integrations: ["probe"] });
    const stopped = await agent.invoke(ask, config);
    const { value } = stopped.__interrupt__?.[0] ?? {};
    expect(JSON.stringify(value?.action_requests)).toMatch(/First.*Second/);
    expect(value?.svc).toMatchObject({ questions: [{ kind: "connection", integration: "probe" }] });
    const again = await agent.invoke(resume(answer(second.id)), config);
    expect(probe.probe.calls.map((call) => call.connection)).toEqual(["Second"]);
    expect(again.__interrupt__).toHaveLength(1);
  });

  it("are asked about again after a bare approval, which chooses none", async () => {
    const { probe } = await startTwo();
    const toolkit = await open({}, probe);
    const agent = await start(PLAIN, { toolkit, model: script([echo("a")]), integrations: ["probe"] });
    const stopped = await agent.invoke(ask, config);
    expect(stopped.__interrupt__?.[0]?.value.reviewConfigs).toMatchObject([{ allowedDecisions: ["edit", "reject"] }]);
    const again = await agent.invoke(resume(yes), config);
    expect(again.__interrupt__?.[0]?.value.svc).toMatchObject({
      notice: expect.stringContaining("No account is chosen"),
    });
    expect(probe.probe.calls).toEqual([]);
  });

  it("that came in the place of the approved one are asked about once, then the call with the picked one", async () => {
    const probe = closeLater(await startProbeService());
    const toolkit = await open({}, probe);
    await toolkit.session.catalog.find("probe_write_text");
    const model = script([{ name: "probe_write_text", args: { text: "once" }, id: "w1" }]);
    const agent = await start(PLAIN, { toolkit, model, integrations: ["probe"] });
    let state = await agent.invoke(ask, config);
    await probe.service.connections.remove(probe.connectionId);
    const second = await addConnection(probe.service, "Second");
    await addConnection(probe.service, "Third");
    const asked: unknown[] = [];
    for (let round = 0; round < 5 && (state.__interrupt__ ?? []).length > 0; round += 1) {
      const svc = state.__interrupt__?.[0]?.value.svc as
        | { questions: { kind: string; account?: string }[] }
        | undefined;
      const [question] = svc?.questions ?? [];
      asked.push(question?.account ?? question?.kind);
      state = await agent.invoke(resumeFirst(state, question?.kind === "connection" ? second.id : yes), config);
    }
    expect(asked).toEqual(["First", "connection", "Second"]);
    expect(readStatuses(state)).toEqual(["succeeded"]);
    expect(probe.probe.calls.map((call) => call.connection)).toEqual(["Second"]);
  });

  it.each([
    ["a state folder", true],
    ["the caller's store", false],
  ])("are remembered in %s when the human wishes it", async (_name, inFolder) => {
    const { probe, second } = await startTwo();
    const [store, stateDir] = [new InMemoryStore(), await makeFolder()];
    const kept = inFolder ? { stateDir } : {};
    const parts = { integrations: ["probe"], ...(inFolder ? {} : { store }) };
    const agent = await start(PLAIN, { toolkit: await open(kept, probe), model: script([echo("a")]), ...parts });
    await agent.invoke(ask, config);
    await agent.invoke(resume({ connection: second.id, remember: true }), config);
    const later = await start(PLAIN, { toolkit: await open(kept, probe), model: script([echo("b")]), ...parts });
    expect(readStatuses(await later.invoke(ask, config))).toEqual(["succeeded"]);
    expect(probe.probe.calls.map((call) => call.connection)).toEqual(["Second", "Second"]);
  });

  it.each([PLAIN, FIRST])("come first, then the approval for the chosen one: $name", async (adapter) => {
    const { probe, second } = await startTwo();
    const toolkit = await open({}, probe);
    const write = { name: "probe_write_text", args: { text: "x" }, id: "w1" };
    const agent = await start(adapter, { toolkit, model: script([write]), integrations: ["probe"] });
    await agent.invoke(ask, config);
    const stopped = await agent.invoke(resume(second.id), config);
    expect(stopped.__interrupt__?.[0]?.value.svc).toMatchObject({ questions: [{ account: "Second" }] });
    expect(probe.probe.calls).toEqual([]);
    await agent.invoke(resume(true), config);
    expect(probe.probe.calls.map((call) => call.connection)).toEqual(["Second"]);
  });

  it("are left to the model's hint when the human chooses none", async () => {
    const { probe } = await startTwo();
    const agent = await start(PLAIN, {
      toolkit: await open({}, probe),
      model: script([echo("a")]),
      integrations: ["probe"],
    });
    await agent.invoke(ask, config);
    const state = await agent.invoke(resume("reject"), config);
    expect(readStatuses(state)).toEqual(["needs_connection"]);
    expect(probe.probe.calls).toEqual([]);
  });

  it.each([
    ["configurable", (chosen: object) => ({ configurable: { thread_id: "t", svcConnections: chosen } })],
    ["context", (chosen: object) => ({ configurable: { thread_id: "t" }, context: { svcConnections: chosen } })],
  ])("are chosen by the host's %s, also through svc_call_tool", async (_name, makeConfig) => {
    const { probe, second } = await startTwo();
    const wrapped = { name: "svc_call_tool", args: { name: "probe_echo", arguments: { text: "b" } }, id: "b" };
    const agent = await start(PLAIN, {
      toolkit: await open({}, probe),
      model: script([echo("a"), wrapped]),
      integrations: ["probe"],
    });
    const state = await agent.invoke(ask, makeConfig({ probe: second.id }));
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(probe.probe.calls.map((call) => call.connection)).toEqual(["Second", "Second"]);
  });
});

describe("a write through svc_call_tool", () => {
  it.each([PLAIN, FIRST, NODE])("is asked about like any other: $name", async (adapter) => {
    const wrapped = {
      name: "svc_call_tool",
      args: { name: "notes_create_page", arguments: { title: "w1", body: "b" } },
      id: "w",
    };
    const agent = await start(adapter, { toolkit: await open(), model: script([wrapped]) });
    const first = await agent.invoke(ask, config);
    expect(readAsked(first).map(({ title }) => title)).toEqual(["w1"]);
    const { state } = await answerAll(agent, first, () => ({ type: "approve" }));
    expect(readStatuses(state)).toEqual(["succeeded"]);
    expect(await readTitles(service)).toEqual(["w1"]);
  });
});
