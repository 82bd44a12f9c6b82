import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SvcTool, SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { addConnection, type ProbeService, startProbeService } from "../../../contract/probe-service.ts";
import { closeAll, closeLater, sayNo, sayYes } from "../../calls/open-test-session.ts";
import { type AgentState, resume } from "./adapters.ts";
import { config, readAsked, resumeFirst } from "./agent-kit.ts";
import { startNode } from "./graph-kit.ts";

/** `batch()` over a tool of an app with two accounts, none of them the default. */

let probe: ProbeService;
let second: string;
beforeEach(async () => {
  probe = closeLater(await startProbeService());
  second = (await addConnection(probe.service, "Second")).id;
});
afterEach(closeAll);

async function findTool(name: string, change: Partial<SvcToolkitOptions> = {}): Promise<SvcTool> {
  const toolkit = await SvcToolkit.create({ baseUrl: probe.url, apiKey: probe.apiKey, ...change });
  const tool = closeLater(toolkit)
    .getTools()
    .find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`No tool ${name}`);
  return tool;
}

const text = (value: string) => ({ text: value });
const call = (name: string, value: string) => ({ type: "tool_call", name, args: text(value), id: value }) as const;
const readMade = () => probe.probe.calls.map(({ args, connection }) => [args.text, connection]).toSorted();

describe("outside a graph", () => {
  it("each call is asked about, and each gets what it was answered", async () => {
    const answers = [probe.connectionId, second, undefined];
    const asked: string[] = [];
    const tool = await findTool("probe_write_text", {
      chooseConnection: async ({ toolName }) => {
        asked.push(toolName);
        return answers[asked.length - 1];
      },
      approve: async (request) => (request.arguments.text === "b" ? sayNo(request) : sayYes(request)),
    });
    const messages: unknown = await tool.batch(["a", "b", "c"].map((value) => call("probe_write_text", value)));
    expect(asked).toHaveLength(3);
    const statuses = (messages as { artifact: { status: string }; tool_call_id: string }[]).map((message) => [
      message.tool_call_id,
      message.artifact.status,
    ]);
    expect(statuses).toEqual([
      ["a", "succeeded"],
      ["b", "declined"],
      ["c", "needs_connection"],
    ]);
    expect(readMade()).toEqual([["a", "First"]]);
  });

  it("each says that an account is needed where nobody can be asked", async () => {
    const tool = await findTool("probe_echo");
    const contents: unknown[] = await tool.batch([text("a"), text("a")]);
    expect(contents.map((content) => JSON.parse(String(content)).status)).toEqual([
      "needs_connection",
      "needs_connection",
    ]);
    expect(probe.probe.calls).toEqual([]);
  });
});

describe.each([
  ["with ids", (value: string) => call("probe_echo", value)],
  ["without ids", text],
])("in a node, %s", (_name, toInput) => {
  it("the calls ask one after the other, and each uses the account chosen for it", async () => {
    const tool = await findTool("probe_echo");
    const ended: unknown[] = [];
    const agent = startNode(async (run) => {
      ended.push(...(await tool.batch([toInput("a"), toInput("b"), toInput("c")], run)));
    });
    const seen: string[] = [];
    let state: AgentState = await agent.invoke({}, config);
    for (const answer of [second, probe.connectionId, "reject"]) {
      const asked = readAsked(state);
      expect(asked).toHaveLength(1);
      seen.push(...asked.map(({ id }) => id));
      state = await agent.invoke(resume(answer), config);
    }
    expect(readAsked(state)).toEqual([]);
    expect(new Set(seen).size).toBe(3);
    expect(ended).toHaveLength(3);
    // The node runs again after each answer, and a read with it: each time with the account chosen for it.
    expect([...new Set(readMade().map((made) => made.join(": ")))]).toEqual(["a: Second", "b: First"]);
  });
});

it("equal calls without ids are calls of their own", async () => {
  const tool = await findTool("probe_write_text");
  const agent = startNode(async (run) => {
    await tool.batch([text("a"), text("a")], run);
  });
  let state = await agent.invoke({}, config);
  const seen = new Set<string>();
  for (const answer of [second, true, probe.connectionId, true]) {
    for (const { id } of readAsked(state)) seen.add(id);
    state = await agent.invoke(resumeFirst(state, answer), config);
  }
  expect(readAsked(state)).toEqual([]);
  expect(seen.size).toBe(4);
  expect(readMade()).toEqual([
    ["a", "First"],
    ["a", "Second"],
  ]);
});
