import { AIMessage, type ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { interrupt, MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { SvcClient } from "../../../../src/plugin/client/client.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { ADAPTERS, type Adapter, findAdapter, type RunningAgent, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readStatuses, readTitles, script } from "./agent-kit.ts";
import { startNode, toAgent } from "./graph-kit.ts";

/** A model that asks for the same thing twice at once, and an agent that asks a human about it twice. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function open(change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  const keyless = { idempotencyKeys: "off" } as const;
  return closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, ...keyless, ...change }));
}

async function listFlows(): Promise<unknown[]> {
  const client = closeLater(new SvcClient({ baseUrl: service.url, apiKey: service.apiKey }));
  return (await client.listFlows({})).flows;
}

const FLOW = { template: "notes_reminder", input: { text: "Water the plants", delaySeconds: 60 } };
const { name: CREATE, args: PAGE } = note("one", "same");

const yes = () => ({ type: "approve" });
const no = () => ({ type: "reject" });

async function startEqual(adapter: Adapter, ...ids: string[]): Promise<RunningAgent> {
  const model = script(ids.map((id) => note(id, "same")));
  return adapter.start({ toolkit: await open(), model, checkpointer: new MemorySaver() });
}

describe.each(ADAPTERS)("two equal calls in one batch: $name", (adapter) => {
  it("are two questions, and each is decided by itself", async () => {
    const agent = await startEqual(adapter, "one", "two");
    const seen = new Set<string>();
    let state = await agent.invoke(ask, config);
    for (let round = 0; (state.__interrupt__ ?? []).length > 0 && round < 4; round += 1) {
      const answers = readAsked(state).map(({ id }) => {
        seen.add(id);
        return [id, seen.size === 1 ? yes() : no()] as const;
      });
      const byOurIds = Object.fromEntries(answers);
      const ids = (state.__interrupt__ ?? []).map(({ id }) => [id, byOurIds] as const);
      state = await agent.invoke(resume(Object.fromEntries(ids)), config);
    }
    expect(seen.size).toBe(2);
    expect(readStatuses(state).toSorted()).toEqual(["declined", "succeeded"]);
    expect(await readTitles(service)).toEqual(["same"]);
  });

  it("are both made when both are approved", async () => {
    const agent = await startEqual(adapter, "one", "two");
    await answerAll(agent, await agent.invoke(ask, config), yes);
    expect(await readTitles(service)).toEqual(["same", "same"]);
  });
});

// A task of the functional API has no messages to know a call by: there each task is a call of its own.
const BY_MESSAGE = ADAPTERS.filter(({ name }) => name !== "tasks of the functional API");

describe.each(BY_MESSAGE)("two equal calls under one id: $name", (adapter) => {
  it("are one call, which one answer approves", async () => {
    const agent = await startEqual(adapter, "one", "one");
    const first = await agent.invoke(ask, config);
    const { state, interrupts } = await answerAll(agent, first, yes);
    expect(interrupts).toEqual([1]);
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["same"]);
  });

  it("are not made when that call is declined", async () => {
    const agent = await startEqual(adapter, "one", "one");
    const { state } = await answerAll(agent, await agent.invoke(ask, config), no);
    expect(readStatuses(state)).toEqual(["declined", "declined"]);
    expect(await service.effects()).toEqual([]);
  });
});

const readOutcome = (end: unknown) => JSON.parse(String((end as ToolMessage).content)) as unknown;
const toCreate = (args: unknown) => ({ name: CREATE, arguments: args });

describe("two equal calls of a node, under one id, at once", () => {
  it("take one answer, and leave the host's own question its own", async () => {
    const tool = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    const answers: unknown[] = [];
    const call = { type: "tool_call", ...note("one") } as const;
    const agent = startNode(async (run) => {
      await tool?.batch([call, call], run);
      answers.push(interrupt("Publish it?"));
    });
    await agent.invoke({}, config);
    await agent.invoke(resume(true), config);
    await agent.invoke(resume("Not before Monday."), config);
    expect(answers).toEqual(["Not before Monday."]);
    expect(await readTitles(service)).toEqual(["one"]);
  });

  it("are two calls when they are not the same", async () => {
    const tool = (await open()).getTools().find(({ name }) => name === "notes_create_page");
    const calls = ["a", "b"].map((title) => ({ type: "tool_call", ...note("one", title) }) as const);
    const agent = startNode(async (run) => void (await tool?.batch(calls, run)));
    const { interrupts } = await answerAll(agent, await agent.invoke({}, config), yes);
    expect(interrupts).toEqual([1, 1]);
    expect(await readTitles(service)).toEqual(["a", "b"]);
  });

  it.each([
    ["how long a flow is watched", "svc_start_flow", [FLOW, { ...FLOW, wait_seconds: 0 }]],
    ["how their arguments are written", "svc_call_tool", [PAGE, JSON.stringify(PAGE)].map(toCreate)],
  ] as const)(
    "are one call where they differ only in %s",
    async (_what, name, written) => {
      const tool = (await open()).getTools().find((one) => one.name === name);
      const calls = written.map((args) => ({ type: "tool_call", id: "one", name, args }) as const);
      const ends: unknown[] = [];
      const agent = startNode(async (run) => void ends.push(...((await tool?.batch(calls, run)) ?? [])));
      const { interrupts } = await answerAll(agent, await agent.invoke({}, config), yes);
      expect(interrupts).toEqual([1]);
      expect(ends.map(readOutcome)).toMatchObject([
        { status: "succeeded" },
        { status: "succeeded", notes: [expect.stringContaining("answered from the journal")] },
      ]);
      expect([...(await readTitles(service)), ...(await listFlows())]).toHaveLength(1);
    },
    10_000,
  );
});

describe("the same toolkit in two approval middlewares", () => {
  async function start(...batches: Parameters<typeof script>): Promise<RunningAgent> {
    const toolkit = await open();
    const agent = createAgent({
      model: script(...batches),
      tools: toolkit.getTools(),
      middleware: [await createApprovalMiddleware(toolkit), await createApprovalMiddleware(toolkit, { name: "Again" })],
      checkpointer: new MemorySaver(),
    });
    return toAgent(agent);
  }

  it("asks once for each call, also in the next batch", async () => {
    const agent = await start([note("a"), note("b")], [note("c")]);
    const { state, interrupts } = await answerAll(agent, await agent.invoke(ask, config), yes);
    expect(interrupts).toEqual([1, 1]);
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["a", "b", "c"]);
  });

  it("keeps to a no", async () => {
    const agent = await start([note("a")]);
    await agent.invoke(ask, config);
    const state = await agent.invoke(resume({ decisions: [no()] }), config);
    expect(readAsked(state)).toEqual([]);
    expect(readStatuses(state)).toEqual(["declined"]);
    expect(await service.effects()).toEqual([]);
  });
});

describe("a call without an id", () => {
  it.each([findAdapter("createAgent"), findAdapter("createAgent with the approval middleware")])(
    "is asked about once: $name",
    async (adapter) => {
      const { name, args } = note("w1");
      const model = fakeModel()
        .respond(new AIMessage({ content: "", tool_calls: [{ name, args }] }))
        .respond(new AIMessage("Done."));
      const agent = await adapter.start({ toolkit: await open(), model, checkpointer: new MemorySaver() });
      const first = await agent.invoke(ask, config);
      expect(readAsked(first)).toHaveLength(1);
      const { interrupts } = await answerAll(agent, first, yes);
      expect(interrupts).toEqual([1]);
      expect(await readTitles(service)).toEqual(["w1"]);
    },
  );
});
