import { MemorySaver } from "@langchain/langgraph";
import { afterEach, beforeEach, expect, it } from "vitest";
import { SvcToolkit, type SvcToolkitOptions } from "../../../../src/langchain.ts";
import { createScriptedApprover, startTestService, type TestService } from "../../../../src/testing.ts";
import { addConnection, startProbeService } from "../../../contract/probe-service.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { ADAPTERS, type RunningAgent } from "./adapters.ts";
import { answerAll, ask, config, note, readAsked, readStatuses, readTitles, script } from "./agent-kit.ts";

/** What the host says in a run's `context` holds for the questions too, whoever asks them. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const WAYS = ADAPTERS.filter(({ asks }) => asks !== "serial");

async function open(at: TestService, change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  return closeLater(await SvcToolkit.create({ baseUrl: at.url, apiKey: at.apiKey, ...change }));
}

it.each(WAYS)("an account chosen there is asked about once: $name", async (adapter) => {
  const probe = closeLater(await startProbeService());
  const second = await addConnection(probe.service, "Second", { scopes: [] });
  const call = { name: "probe_write_text", args: { text: "a" }, id: "a" };
  const agent: RunningAgent = await adapter.start({
    toolkit: await open(probe),
    model: script([call]),
    integrations: ["probe"],
    checkpointer: new MemorySaver(),
  });
  const context = { svcConnections: { probe: second.id } };
  const withContext = { ...agent, invoke: (input: unknown) => agent.invoke(input, { ...config, context }) };
  const first = await withContext.invoke(ask);
  expect(readAsked(first)).toHaveLength(1);
  const { interrupts } = await answerAll(withContext, first, () => ({ type: "approve" }));
  expect(interrupts).toEqual([1]);
  expect(probe.probe.calls.map(({ connection }) => connection)).toEqual(["Second"]);
});

it.each(WAYS)("an approver chosen by it is the only one who is asked: $name", async (adapter) => {
  const approver = createScriptedApprover(["approve"]);
  const isBoss = (context: unknown) => typeof context === "object" && context !== null && "boss" in context;
  const agent = await adapter.start({
    toolkit: await open(service, { chooseApprover: ({ context }) => (isBoss(context) ? approver : undefined) }),
    model: script([note("w1")]),
    checkpointer: new MemorySaver(),
  });
  const state = await agent.invoke(ask, { ...config, context: { boss: true } });
  expect(readStatuses(state)).toEqual(["succeeded"]);
  expect(approver.requests).toHaveLength(1);
  expect(await readTitles(service)).toEqual(["w1"]);
});
