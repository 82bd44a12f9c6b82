import { interrupt } from "@langchain/langgraph";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SvcTool, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { resume } from "./adapters.ts";
import { answerAll, config, note, readAsked, readTitles, resumeFirst } from "./agent-kit.ts";
import { startNode, startTasks } from "./graph-kit.ts";

/** Calls that the host's own code makes in a graph, without a model's message that asks for them. */

let service: TestService;
let tool: SvcTool | undefined;
beforeEach(async () => {
  service = closeLater(await startTestService());
  const toolkit = closeLater(
    await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, idempotencyKeys: "off" }),
  );
  tool = toolkit.findTool("notes_create_page") ?? toolkit.getTools().find(({ name }) => name === "notes_create_page");
});
afterEach(closeAll);

const approve = () => ({ type: "approve" });
const args = (title: string) => ({ title, body: "text" });

describe("a call without an id in a node", () => {
  it("is made once it is approved", async () => {
    const agent = startNode((run) => Promise.resolve(tool?.invoke(args("one"), run)));
    const { interrupts } = await answerAll(agent, await agent.invoke({}, config), approve);
    expect(interrupts).toEqual([1]);
    expect(await readTitles(service)).toEqual(["one"]);
  });

  it("is asked for as often as it is made, and made as often", async () => {
    const agent = startNode(async (run) => {
      for (const title of ["same", "same", "other"]) await tool?.invoke(args(title), run);
    });
    const { interrupts } = await answerAll(agent, await agent.invoke({}, config), approve);
    expect(interrupts).toEqual([1, 1, 1]);
    expect(await readTitles(service)).toEqual(["other", "same", "same"]);
  });

  it("is a new call in the next run", async () => {
    const agent = startNode((run) => Promise.resolve(tool?.invoke(args("daily"), run)));
    await answerAll(agent, await agent.invoke({}, config), approve);
    await answerAll(agent, await agent.invoke({}, config), approve);
    expect(await readTitles(service)).toEqual(["daily", "daily"]);
  });
});

describe("a node that asks something itself", () => {
  it("gets the answer to its own question, not the one to the call before it", async () => {
    const answers: unknown[] = [];
    const agent = startNode(async (run) => {
      await tool?.invoke({ type: "tool_call", ...note("w1") }, run);
      answers.push(interrupt("Publish it?"));
    });
    await agent.invoke({}, config);
    await agent.invoke(resume(true), config);
    await agent.invoke(resume("Not before Monday."), config);
    expect(answers).toEqual(["Not before Monday."]);
    expect(await readTitles(service)).toEqual(["w1"]);
  });

  it("gets it also after an answer that did not count, and before another call", async () => {
    const answers: unknown[] = [];
    const agent = startNode(async (run) => {
      await tool?.invoke(args("one"), run);
      answers.push(interrupt("Go on?"));
      await tool?.invoke(args("two"), run);
    });
    await agent.invoke({}, config);
    await agent.invoke(resume({ hello: "there" }), config);
    await agent.invoke(resume(true), config);
    const asked = await agent.invoke(resume("Yes."), config);
    await agent.invoke(resumeFirst(asked, true), config);
    expect(answers).toEqual(["Yes.", "Yes."]);
    expect(await readTitles(service)).toEqual(["one", "two"]);
  });
});

describe("a call in a task of the functional API", () => {
  const write = async (title: string) => void (await tool?.invoke({ type: "tool_call", ...note("1", title) }));

  it("counts a plain answer when it is the only one", async () => {
    const agent = startTasks(write, ["a"]);
    await agent.invoke({}, config);
    await agent.invoke(resume(true), config);
    expect(await readTitles(service)).toEqual(["a"]);
  });

  it("gets its own decision beside others, also under the same call id", async () => {
    const agent = startTasks(write, ["a", "b", "a"]);
    const first = await agent.invoke({}, config);
    await answerAll(agent, first, (title) => ({ type: title === "a" ? "approve" : "reject" }));
    expect(await readTitles(service)).toEqual(["a", "a"]);
  });

  it("is not approved by the plain answer to another one, and is when it is named", async () => {
    const agent = startTasks(write, ["a", "b"]);
    const first = readAsked(await agent.invoke({}, config));
    const second = readAsked(await agent.invoke(resume(true), config));
    expect(await readTitles(service)).toEqual(first.map(({ title }) => title));
    const again = readAsked(await agent.invoke(resume(true), config));
    // LangGraph 1.7 gives the interrupt another id each time it is put; ours stays.
    expect(again.map(({ id }) => id)).toEqual(second.map(({ id }) => id));
    await agent.invoke(resume({ [String(again[0]?.id)]: true }), config);
    expect(await readTitles(service)).toEqual(["a", "b"]);
  });
});
