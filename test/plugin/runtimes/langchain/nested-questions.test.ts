import type { BaseMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { createDeepAgent } from "deepagents";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { resume } from "./adapters.ts";
import { ask, config, note, readTitles, script } from "./agent-kit.ts";

/** The question of an agent inside a graph is one question, wherever it is looked for. */

let service: TestService;
let toolkit: SvcToolkit;
beforeEach(async () => {
  service = closeLater(await startTestService());
  toolkit = closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey }));
});
afterEach(closeAll);

type Graph = ReturnType<typeof createNode>;

function createNode() {
  const inner = createAgent({ model: script([note("inner")]), tools: toolkit.getTools() });
  return new StateGraph(MessagesAnnotation)
    .addNode("inner", inner.graph)
    .addEdge(START, "inner")
    .compile({ checkpointer: new MemorySaver() });
}

function createSubagent() {
  const task = { name: "task", args: { description: "Write.", subagent_type: "writer" }, id: "t1" };
  const tools = toolkit.getTools();
  const writer = {
    name: "writer",
    description: "Writes.",
    systemPrompt: "Write.",
    tools,
    model: script([note("inner")]),
  };
  return createDeepAgent({ model: script([task]), checkpointer: new MemorySaver(), subagents: [writer] });
}

function createHelper() {
  const inner = createAgent({ model: script([note("inner")]), tools: toolkit.getTools() });
  const helper = new DynamicStructuredTool({
    name: "helper",
    description: "Helps.",
    schema: z.object({}),
    func: async (_input, _run, run) => {
      const { messages } = await inner.invoke(ask, run);
      return String((messages as BaseMessage[]).at(-1)?.content);
    },
  });
  const model = script([{ name: "helper", args: {}, id: "h" }]);
  return createAgent({ model, tools: [helper], checkpointer: new MemorySaver() }).graph;
}

const SHAPES: readonly (readonly [string, () => Graph])[] = [
  ["as a node", createNode],
  ["as a subagent of deepagents", () => createSubagent() as unknown as Graph],
  ["in a tool", () => createHelper() as unknown as Graph],
];

describe.each(SHAPES)("an agent %s", (_name, create) => {
  it("asks once, and is answered once by the id of its interrupt", async () => {
    const graph = create();
    const stopped = (await graph.invoke(ask as never, config)) as { __interrupt__?: { id: string }[] };
    expect(stopped.__interrupt__).toHaveLength(1);
    const { tasks } = await graph.getState(config);
    expect(tasks.flatMap(({ interrupts }) => interrupts)).toHaveLength(1);
    const answer = resume({ [String(stopped.__interrupt__?.[0]?.id)]: { decisions: [{ type: "approve" }] } });
    const ended = (await graph.invoke(answer as never, config)) as { __interrupt__?: unknown[] };
    expect(ended.__interrupt__ ?? []).toEqual([]);
    expect(await readTitles(service)).toEqual(["inner"]);
  });

  it("asks once in a stream of updates, and again once after an answer that does not count", async () => {
    const graph = create();
    for (const input of [ask, resume({ hello: "there" })]) {
      const asked: unknown[] = [];
      for await (const update of await graph.stream(input as never, { ...config, streamMode: "updates" })) {
        asked.push(...((update as { __interrupt__?: unknown[] }).__interrupt__ ?? []));
      }
      expect(asked).toHaveLength(1);
    }
  });
});
