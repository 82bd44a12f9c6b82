import { MemorySaver } from "@langchain/langgraph";
import { createAgent } from "langchain";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { type RunningAgent, resume } from "./adapters.ts";
import { answerAll, ask, config, note, readStatuses, readTitles, script } from "./agent-kit.ts";
import { toAgent } from "./graph-kit.ts";

/** One agent with the tools of two services, each with its approval middleware. */

let services: [TestService, TestService];
beforeEach(async () => {
  services = [closeLater(await startTestService()), closeLater(await startTestService())];
});
afterEach(closeAll);

const folder = { name: "drive_create_folder", args: { path: "Bills" }, id: "w2" };

async function start(...calls: Parameters<typeof script>[0]): Promise<RunningAgent> {
  const [notes, drive] = await Promise.all(
    services.map(async ({ url, apiKey }) => closeLater(await SvcToolkit.create({ baseUrl: url, apiKey }))),
  );
  if (notes === undefined || drive === undefined) throw new Error("Two toolkits were asked for.");
  const tools = [
    ...notes.getTools({ integrations: ["notes"] }),
    ...drive.getTools({ integrations: ["drive"], staticTools: false }),
  ];
  const agent = createAgent({
    model: script(calls),
    tools,
    middleware: [
      await createApprovalMiddleware(notes, { name: "Notes" }),
      await createApprovalMiddleware(drive, { name: "Drive" }),
    ],
    checkpointer: new MemorySaver(),
  });
  return toAgent(agent);
}

it("asks for each service's calls once, and makes them there", async () => {
  const agent = await start(note("w1"), folder);
  const { state, interrupts } = await answerAll(agent, await agent.invoke(ask, config), () => ({ type: "approve" }));
  expect(interrupts).toEqual([1, 1]);
  expect(readStatuses(state).toSorted()).toEqual(["succeeded", "succeeded"]);
  expect(await readTitles(services[0])).toEqual(["w1"]);
  expect((await services[1].effects()).map(({ toolName }) => toolName)).toEqual(["drive_create_folder"]);
});

it("runs nothing of the service that was declined", async () => {
  const agent = await start(note("w1"), folder);
  await agent.invoke(ask, config);
  await agent.invoke(resume({ decisions: [{ type: "reject" }] }), config);
  await agent.invoke(resume({ decisions: [{ type: "approve" }] }), config);
  expect([await readTitles(services[0]), (await services[1].effects()).length]).toEqual([["w1"], 0]);
});

it("asks about a call through svc_call_tool only for the service whose tool that is", async () => {
  const { name, args } = note("w1");
  const agent = await start({ name: "svc_call_tool", args: { name, arguments: args }, id: "w1" });
  const first = await agent.invoke(ask, config);
  const { state, interrupts } = await answerAll(agent, first, () => ({ type: "approve" }));
  expect(interrupts).toEqual([1]);
  expect(readStatuses(state)).toEqual(["succeeded"]);
  expect([await readTitles(services[0]), (await services[1].effects()).length]).toEqual([["w1"], 0]);
});
