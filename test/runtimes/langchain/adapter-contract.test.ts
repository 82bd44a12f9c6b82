import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { type FakeBuiltModel, fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SvcToolkit, type SvcToolkitOptions } from "../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import type { ToolOutcome } from "../../../src/tools/outcome.ts";
import { closeAll, closeLater, makeFolder } from "../../tools/open-test-session.ts";
import { ADAPTERS, type Adapter, type AgentState, type RunningAgent, resume } from "./adapters.ts";

/** One contract for every way to run tools; the service's effect log is the judge. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const config = { configurable: { thread_id: "thread" } };
const ask = { messages: [{ role: "user", content: "Please." }] };
const note = (id: string, title = id) => ({ name: "notes_create_page", args: { title, body: "text" }, id });
const list = (id: string) => ({ name: "drive_list_files", args: {}, id });

type Call = { name: string; args: Record<string, unknown>; id: string };

function script(...batches: Call[][]): FakeBuiltModel {
  const model = batches.reduce((built, calls) => built.respondWithTools(calls), fakeModel());
  return model.respond(new AIMessage("Done."));
}

async function open(change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  const options = { baseUrl: service.url, apiKey: service.apiKey, integrations: ["notes", "drive"], ...change };
  return closeLater(await SvcToolkit.create(options));
}

async function start(adapter: Adapter, model: FakeBuiltModel, change: Partial<SvcToolkitOptions> = {}) {
  return adapter.start({ toolkit: await open(change), model, checkpointer: new MemorySaver() });
}

async function titles(): Promise<unknown[]> {
  return (await service.effects()).map((effect) => (effect.arguments as { title?: string }).title).sort();
}

interface Asked {
  readonly interruptId: string;
  readonly id: string;
  readonly title: unknown;
}

/** Every question of every open interrupt. */
function readAsked(state: AgentState): Asked[] {
  return (state.__interrupt__ ?? []).flatMap(({ id, value }) =>
    (value.action_requests as { id: string; args: { title?: string } }[]).map((request) => ({
      interruptId: id,
      id: request.id,
      title: request.args.title,
    })),
  );
}

/** Answers each question by its title until none is left, as an interface would: one answer per interrupt. */
async function answerAll(
  agent: RunningAgent,
  first: AgentState,
  decide: (title: unknown) => unknown,
): Promise<{ state: AgentState; interrupts: number[] }> {
  const interrupts: number[] = [];
  let state = first;
  while ((state.__interrupt__ ?? []).length > 0) {
    if (interrupts.length > 6) throw new Error("The questions do not end.");
    interrupts.push(state.__interrupt__?.length ?? 0);
    const answers: Record<string, unknown> = {};
    for (const { id, value } of state.__interrupt__ ?? []) {
      const requests = value.action_requests as { args: { title?: string } }[];
      answers[id] = { decisions: requests.map((request) => decide(request.args.title)) };
    }
    state = await agent.invoke(resume(answers), config);
  }
  return { state, interrupts };
}

function readResults(state: AgentState) {
  return state.messages.filter((message) => ToolMessage.isInstance(message));
}

/** No call without its answer, none answered twice. */
function expectNothingDangling(state: AgentState): void {
  const asked = state.messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []));
  const answered = readResults(state).map((message) => message.tool_call_id);
  expect(answered.toSorted()).toEqual(asked.map((call) => call.id).toSorted());
}

function outcomes(state: AgentState): string[] {
  return readResults(state).map((message) => (message.artifact as ToolOutcome).status);
}

describe.each(ADAPTERS)("$name", (adapter) => {
  it("reads without asking", async () => {
    const agent = await start(adapter, script([list("r1")]));
    const state = await agent.invoke(ask, config);
    expect(state.__interrupt__ ?? []).toEqual([]);
    expect(outcomes(state)).toEqual(["succeeded"]);
    expect(await service.effects()).toEqual([]);
  });

  it("runs an approved write exactly once", async () => {
    const agent = await start(adapter, script([note("w1")]));
    const stopped = await agent.invoke(ask, config);
    expect(readAsked(stopped)).toHaveLength(1);
    expect(await service.effects()).toEqual([]);
    const state = await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
    expect(outcomes(state)).toEqual(["succeeded"]);
    expect(await titles()).toEqual(["w1"]);
    expectNothingDangling(state);
  });

  it("runs nothing for a declined write, and says so to the model", async () => {
    const agent = await start(adapter, script([note("w1")]));
    await agent.invoke(ask, config);
    const state = await agent.invoke(resume({ decisions: [{ type: "reject", message: "not today" }] }), config);
    expect(outcomes(state)).toEqual(["declined"]);
    expect(String(readResults(state)[0]?.content)).toContain("not today");
    expect(await service.effects()).toEqual([]);
    expectNothingDangling(state);
  });

  it("takes separate decisions for parallel writes beside a read", async () => {
    const agent = await start(adapter, script([note("yes"), list("r1"), note("no"), note("also")]));
    const first = await agent.invoke(ask, config);
    const decide = (title: unknown) => ({ type: title === "no" ? "reject" : "approve" });
    const { state, interrupts } = await answerAll(agent, first, decide);
    expect(interrupts).toEqual({ single: [3], batch: [1], serial: [1, 1, 1] }[adapter.asks]);
    expect(await titles()).toEqual(["also", "yes"]);
    expect(outcomes(state).toSorted()).toEqual(["declined", "succeeded", "succeeded", "succeeded"]);
    expectNothingDangling(state);
  });

  it("lets no plain answer approve two writes", async () => {
    const agent = await start(adapter, script([note("a"), note("b")]));
    await agent.invoke(ask, config);
    for (const plain of [true, "approve", { type: "accept" }]) {
      await agent.invoke(resume(plain), config);
      if (adapter.asks === "serial") break;
      expect(await service.effects()).toEqual([]);
    }
    // Where questions come one after the other, the answer counted for the one that was shown.
    expect(await titles()).toEqual(adapter.asks === "serial" ? ["a"] : []);
  });

  it("binds a decision to the request it names", async () => {
    const agent = await start(adapter, script([note("a"), note("b")]));
    let state = await agent.invoke(ask, config);
    const named = readAsked(state).find(({ title }) => title === "a");
    state = await agent.invoke(resume({ [String(named?.id)]: { type: "approve" } }), config);
    // A batch runs once all of it is decided.
    expect(await titles()).toEqual(adapter.asks === "batch" ? [] : ["a"]);
    expect(readAsked(state).map(({ title }) => title)).toEqual(["b"]);
    state = await agent.invoke(resume({ [String(readAsked(state)[0]?.id)]: false }), config);
    expect(outcomes(state).toSorted()).toEqual(["declined", "succeeded"]);
    expect(await titles()).toEqual(["a"]);
  });

  it("checks an edit and runs what the human typed", async () => {
    const agent = await start(adapter, script([note("w1")]));
    const stopped = await agent.invoke(ask, config);
    const { id } = (stopped.__interrupt__ ?? [])[0] ?? { id: "" };
    const edited = (args: Record<string, unknown>) => ({
      decisions: [{ type: "edit", editedAction: { name: "notes_create_page", args } }],
    });
    const again = await agent.invoke(resume({ [id]: edited({ title: ["not", "text"] }) }), config);
    expect(await service.effects()).toEqual([]);
    expect(JSON.stringify(again.__interrupt__)).toContain("Your edit cannot be used");
    const state = await agent.invoke(resume(edited({ title: "typed", body: "text" })), config);
    expect(await titles()).toEqual(["typed"]);
    expect(outcomes(state)).toEqual(["succeeded"]);
    expectNothingDangling(state);
  });

  it("sends nothing again after a step back in time", async () => {
    const agent = await start(adapter, script([note("w1")]));
    const first = await agent.invoke(ask, config);
    await answerAll(agent, first, () => ({ type: "approve" }));
    expect(await titles()).toEqual(["w1"]);
    for await (const past of agent.getStateHistory(config)) {
      if (!past.next.some((node) => node === "tools")) continue;
      const state = await agent.invoke(null, past.config).catch((error: unknown) => error);
      expect(JSON.stringify(state)).not.toContain("not known whether");
    }
    expect(await titles()).toEqual(["w1"]);
  });

  it("keeps keys, paths and stacks out of the conversation", async () => {
    const stateDir = await makeFolder();
    const agent = await start(
      adapter,
      script([note("w1"), { name: "drive_read_file", args: { path: 5 }, id: "bad" }]),
      {
        stateDir,
      },
    );
    const first = await agent.invoke(ask, config);
    const { state } = await answerAll(agent, first, () => ({ type: "approve" }));
    const transcript = JSON.stringify(state.messages.map((message) => [message.getType(), message.content]));
    expect(transcript).not.toContain(service.apiKey);
    expect(transcript).not.toContain("svc_live_");
    expect(transcript).not.toContain(service.dataDir);
    expect(transcript).not.toContain(stateDir);
    expect(transcript).not.toMatch(/node_modules|\.[jt]s:\d+|\bat \w+ \(/);
  });
});
