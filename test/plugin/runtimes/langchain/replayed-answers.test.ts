import { DynamicStructuredTool } from "@langchain/core/tools";
import { InMemoryStore, interrupt, MemorySaver } from "@langchain/langgraph";
import { createReactAgent } from "@langchain/langgraph/prebuilt";
import fc from "fast-check";
import { createAgent, createMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { SvcClient, SvcError } from "../../../../src/index.ts";
import { createApprovalMiddleware, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";
import { type AgentState, findAdapter, resume } from "./adapters.ts";
import { ask, config, note, readAsked, readStatuses, readTitles, resumeFirst, script } from "./agent-kit.ts";
import { startNode } from "./graph-kit.ts";

/** A graph hands out stored answers again. A toolkit that was just made stands for a process that knows nothing. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

type Change = Partial<SvcToolkitOptions>;

async function open(change: Change = {}): Promise<SvcToolkit> {
  const keyless = { idempotencyKeys: "off", integrations: ["notes"] } as const;
  const options = { baseUrl: service.url, apiKey: service.apiKey, ...keyless, ...change };
  return closeLater(await SvcToolkit.create(options));
}

/** A batch of calls in one ToolNode; `choose` says which process takes a message, by default a new one. */
function startBatch(
  calls: ReturnType<typeof note>[],
  choose: () => Promise<SvcToolkit> = open,
  checkpointer = new MemorySaver(),
) {
  let isFirst = true;
  const start = async () => {
    const model = isFirst ? script(calls) : script();
    isFirst = false;
    return findAdapter("createReactAgent").start({
      toolkit: await choose(),
      model,
      checkpointer,
      integrations: ["notes"],
    });
  };
  const invoke = async (input: unknown): Promise<AgentState> => (await start()).invoke(input, config);
  return { start, invoke };
}

/** A service whose answers to writes never arrive. */
async function openDeaf(): Promise<SvcToolkit> {
  const client = new SvcClient({ baseUrl: service.url, apiKey: service.apiKey });
  const send = client.executeTool.bind(client);
  client.executeTool = async (...call) => {
    await send(...call);
    throw new SvcError("timeout", "No answer came.", { sent: true, retryable: true });
  };
  closeLater(client);
  return closeLater(await SvcToolkit.create({ client, idempotencyKeys: "off", integrations: ["notes"] }));
}

const yes = { decisions: [{ type: "approve" }] };
const no = { decisions: [{ type: "reject" }] };
const edit = (title: string) => {
  const editedAction = { name: "notes_create_page", args: { title, body: "text" } };
  return { decisions: [{ type: "edit", editedAction }] };
};

describe("in a batch whose answers go to other processes", () => {
  it("a declined call stays declined", async () => {
    const { invoke } = startBatch([note("a"), note("b"), note("c")]);
    await invoke(ask);
    await invoke(resume(no));
    const asked = await invoke(resume(yes));
    const state = await invoke(resumeFirst(asked, yes));
    expect(readStatuses(state)).toEqual(["declined", "succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["b", "c"]);
  });

  it("an edited call is sent once, as it was edited", async () => {
    const { invoke } = startBatch([note("a"), note("b")]);
    await invoke(ask);
    await invoke(resume(edit("edited")));
    const state = await invoke(resume(yes));
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["b", "edited"]);
  });

  it("a call without an answer stays without one", async () => {
    const processes = [open, openDeaf, open];
    const { invoke } = startBatch([note("a"), note("b")], () => (processes.shift() ?? open)());
    await invoke(ask);
    const asked = await invoke(resume(yes));
    const state = await invoke(resumeFirst(asked, yes));
    expect(readStatuses(state)).toEqual(["unknown", "succeeded"]);
    expect(await readTitles(service)).toEqual(["a", "b"]);
  });

  it("a call that its own approver allows is not made again", async () => {
    const chooseApprover: SvcToolkitOptions["chooseApprover"] = (run) =>
      run.toolCall?.id === "own" ? async (request) => sayYes(request) : undefined;
    const { invoke } = startBatch([note("own"), note("asked")], () => open({ chooseApprover }));
    await invoke(ask);
    expect(await readTitles(service)).toEqual(["own"]);
    const state = await invoke(resume(yes));
    expect(readStatuses(state)).toEqual(["succeeded", "succeeded"]);
    expect(await readTitles(service)).toEqual(["asked", "own"]);
  });

  it("a long result is kept, and not with the question", async () => {
    const receiveResult = async () => ({ result: "long ".repeat(2_000), notes: [] });
    const { invoke } = startBatch([note("a"), note("b")], () => open({ receiveResult }));
    await invoke(ask);
    const asked = await invoke(resume(yes));
    expect(JSON.stringify(asked.__interrupt__).length).toBeLessThan(10_000);
    const state = await invoke(resumeFirst(asked, yes));
    expect(String(state.messages.at(-3)?.content)).toContain("long long");
    expect(await readTitles(service)).toEqual(["a", "b"]);
  });

  it("a step back in time asks anew", async () => {
    const { start, invoke } = startBatch([note("a"), note("b")]);
    await invoke(ask);
    const asked = await invoke(resume(yes));
    await invoke(resumeFirst(asked, yes));
    const agent = await start();
    for await (const past of agent.getStateHistory(config)) {
      if (!past.next.includes("tools")) continue;
      const state = await agent.invoke(null, past.config);
      expect(readAsked(state).map(({ title }) => title)).toEqual(["a"]);
    }
    expect(await readTitles(service)).toEqual(["a", "b"]);
  });
});

describe.each([
  ["plainly", (_: AgentState) => true],
  ["by its id", (state: AgentState) => ({ [String(readAsked(state)[0]?.id)]: true })],
])("before a question of the host, approved %s", (_way, approve) => {
  it("a call is not sent again, and its outcome is known", async () => {
    const checkpointer = new MemorySaver();
    const ended: unknown[] = [];
    const invoke = async (input: unknown) => {
      const tool = (await open()).getTools().find(({ name }) => name === "notes_create_page");
      const node = startNode(async (run) => {
        const message = await tool?.invoke({ type: "tool_call", ...note("a") }, run);
        ended.push([message.artifact.status, interrupt("Publish it?")]);
      }, checkpointer);
      return node.invoke(input, config);
    };
    const first = await invoke({});
    await invoke(resume(approve(first)));
    const last = await invoke(resume("Not before Monday."));
    expect(readAsked(last)).toEqual([]);
    expect(await readTitles(service)).toEqual(["a"]);
    expect(ended).toEqual([["succeeded", "Not before Monday."]]);
  });
});

it("a call before a question of the host that nobody was asked about through the graph is not made again", async () => {
  const checkpointer = new MemorySaver();
  const ended: unknown[] = [];
  const invoke = async (input: unknown) => {
    const toolkit = await open({ askThrough: "callback", approve: async (request) => sayYes(request) });
    const tool = toolkit.getTools().find(({ name }) => name === "notes_create_page");
    const node = startNode(async (run) => {
      const before = interrupt("Which one?");
      const message = await tool?.invoke({ type: "tool_call", ...note("a") }, run);
      ended.push([message.artifact.status, before, interrupt("Publish it?")]);
    }, checkpointer);
    return node.invoke(input, config);
  };
  await invoke({});
  await invoke(resume("This one."));
  expect(await readTitles(service)).toEqual(["a"]);
  await invoke(resume("Yes."));
  expect(await readTitles(service)).toEqual(["a"]);
  expect(ended).toEqual([["succeeded", "This one.", "Yes."]]);
});

it("whatever is answered by whichever process, no approval has two effects", async () => {
  const answers = fc.constantFrom("yes", "no", "edit", "nonsense", "by id", "by interrupt");
  const step = fc.record({ answer: answers, process: fc.nat({ max: 3 }), isDeaf: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 4 }),
      fc.array(step, { minLength: 2, maxLength: 9 }),
      async (size, steps) => {
        const titles = Array.from({ length: size }, (_, index) => `${crypto.randomUUID()} ${index}`);
        const known = new Map<number, SvcToolkit>();
        let at = { process: 0, isDeaf: false };
        const choose = async () => {
          const kept = at.isDeaf ? await openDeaf() : (known.get(at.process) ?? (await open()));
          if (!at.isDeaf && at.process > 0) known.set(at.process, kept);
          return kept;
        };
        const { invoke } = startBatch(
          titles.map((title) => note(title)),
          choose,
        );
        let state = await invoke(ask);
        const approvals: unknown[] = [];
        for (const { answer, ...next } of steps) {
          const [asked] = readAsked(state);
          if (asked === undefined) break;
          at = next;
          if (answer !== "no" && answer !== "nonsense") approvals.push(asked.title);
          const given: Record<string, unknown> = {
            yes,
            no,
            edit: edit(String(asked.title)),
            nonsense: { hello: "there" },
            "by id": { [asked.id]: true },
            "by interrupt": { [asked.interruptId]: true },
          };
          state = await invoke(resume(given[answer]));
          // LangGraph may still hold the same words as the answer to another question: then the human is told to name it.
          if (JSON.stringify(state.__interrupt__ ?? []).includes("Name this question's id")) {
            const plain: Record<string, unknown> = { yes: true, no: false };
            state = await invoke(resume({ [asked.id]: plain[answer] ?? given[answer] }));
          }
        }
        const written = (await readTitles(service)).filter((title) => titles.includes(String(title)));
        expect(written.toSorted()).toEqual(approvals.toSorted());
        expect(new Set(approvals).size).toBe(approvals.length);
      },
    ),
    { numRuns: 25 },
  );
}, 120_000);

it("a call beside an agent that asks through the same task is not made again", async () => {
  const checkpointer = new MemorySaver();
  let isFirst = true;
  const invoke = async (input: unknown) => {
    const toolkit = await open();
    const inner = createReactAgent({ llm: isFirst ? script([note("inner")]) : script(), tools: toolkit.getTools() });
    const helper = new DynamicStructuredTool({
      name: "helper",
      description: "Helps.",
      schema: z.object({}),
      func: async (_input, _run, run) => String((await inner.invoke(ask, run)).messages.at(-1)?.content),
    });
    const batch = [note("outer"), { name: "helper", args: {}, id: "h" }];
    const parts = { toolkit, model: isFirst ? script(batch) : script(), checkpointer, integrations: ["notes"] };
    isFirst = false;
    return (await findAdapter("createReactAgent").start({ ...parts, more: [helper] })).invoke(input, config);
  };
  let state = await invoke(ask);
  for (let count = 0; readAsked(state).length > 0; count += 1) {
    expect(count).toBeLessThan(8);
    const [asked] = readAsked(state);
    state = await invoke(resume({ [String(asked?.id)]: { type: "approve" } }));
  }
  expect(await readTitles(service)).toEqual(["inner", "outer"]);
});

it("a call that was approved beforehand is not made again when a middleware asks after it", async () => {
  const checkpointer = new MemorySaver();
  let isFirst = true;
  const invoke = async (input: unknown) => {
    const toolkit = await open();
    const publish = createMiddleware({
      name: "Publish",
      wrapToolCall: async (request, handler) => {
        const message = await handler(request);
        interrupt("Publish it?");
        return message;
      },
    });
    const model = isFirst ? script([note("a")]) : script();
    isFirst = false;
    const middleware = [publish, await createApprovalMiddleware(toolkit)];
    const agent = createAgent({ model, tools: toolkit.getTools(), checkpointer, middleware });
    return (await agent.invoke(input as never, config)) as unknown as AgentState;
  };
  await invoke(ask);
  await invoke(resume(yes));
  expect(await readTitles(service)).toEqual(["a"]);
  const state = await invoke(resume("yes"));
  expect(readStatuses(state)).toEqual(["succeeded"]);
  expect(await readTitles(service)).toEqual(["a"]);
});

it.each(["by interrupt", "by question", "plainly"])(
  "a checkpoint that cannot be read lets nothing be sent twice, answered %s",
  async (way) => {
    class Blind extends MemorySaver {
      /** The graph itself asks with more than an address. */
      override async getTuple(run: Parameters<MemorySaver["getTuple"]>[0]) {
        if (Object.keys(run).length === 1) throw new Error("Not now.");
        return super.getTuple(run);
      }
    }
    const checkpointer = new Blind();
    const { invoke } = startBatch([note("a"), note("b")], open, checkpointer);
    let state = await invoke(ask);
    for (let count = 0; count < 4; count += 1) {
      const [asked] = readAsked(state);
      if (asked === undefined) break;
      const given = way === "by interrupt" ? { [asked.interruptId]: yes } : { [asked.id]: { type: "approve" } };
      state = await invoke(resume(way === "plainly" ? yes : given));
    }
    const titles = await readTitles(service);
    expect(new Set(titles).size).toBe(titles.length);
  },
);

describe("what the host hears of a graph that may be resumed elsewhere", () => {
  async function listen(change: Change, store?: InMemoryStore): Promise<string[]> {
    const heard: string[] = [];
    const onEvent: SvcToolkitOptions["onEvent"] = ({ type }) => {
      if (["writes_not_remembered", "approval_requested"].includes(type)) heard.push(type);
    };
    const toolkit = await open({ ...change, onEvent });
    const parts = { toolkit, model: script([note("a")]), checkpointer: new MemorySaver(), integrations: ["notes"] };
    const agent = await findAdapter("createReactAgent").start({ ...parts, store });
    await agent.invoke(ask, config);
    await agent.invoke(resume(yes), config);
    return heard;
  }

  it("is that nothing remembers its writes for good, once, before the human is asked", async () => {
    expect(await listen({})).toEqual(["writes_not_remembered", "approval_requested", "approval_requested"]);
  });

  it("is nothing where a folder or a store remembers them", async () => {
    expect(await listen({ stateDir: await makeFolder() })).not.toContain("writes_not_remembered");
    expect(await listen({}, new InMemoryStore())).not.toContain("writes_not_remembered");
  });
});
