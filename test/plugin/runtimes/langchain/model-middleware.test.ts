import { AIMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, modelFallbackMiddleware, modelRetryMiddleware } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import type { RunningAgent } from "./adapters.ts";
import { answerAll, ask, config, expectNothingDangling, note, readStatuses, readTitles } from "./agent-kit.ts";
import { toAgent } from "./graph-kit.ts";

/** A model that fails before a human was asked and again after the answer, under what makes up for that. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const down = () => new Error("The model is overloaded.");

/** The first try of each turn fails. */
function createFlaky() {
  return fakeModel()
    .respond(down())
    .respondWithTools([note("a"), note("b")])
    .respond(down())
    .respond(new AIMessage("Done."));
}

type Kind = "fallback" | "retry";
type Order = "first" | "last" | "missing";

function createAround(kind: Kind): AgentMiddleware {
  if (kind === "retry") return modelRetryMiddleware({ maxRetries: 2, initialDelayMs: 1, jitter: false });
  const spare = fakeModel()
    .respondWithTools([note("a"), note("b")])
    .respond(new AIMessage("Done."));
  return modelFallbackMiddleware(spare);
}

async function start(kind: Kind, order: Order): Promise<RunningAgent> {
  const options = { baseUrl: service.url, apiKey: service.apiKey, idempotencyKeys: "off" } as const;
  const toolkit = closeLater(await SvcToolkit.create(options));
  const approval = await createApprovalMiddleware(toolkit);
  const around = createAround(kind);
  const middleware = { first: [approval, around], last: [around, approval], missing: [around] }[order];
  const model = kind === "retry" ? createFlaky() : fakeModel().alwaysThrow(down());
  return toAgent(createAgent({ model, tools: toolkit.getTools(), middleware, checkpointer: new MemorySaver() }));
}

describe.each<[Kind, Order]>([
  ["fallback", "first"],
  ["fallback", "last"],
  ["fallback", "missing"],
  ["retry", "first"],
  ["retry", "last"],
  ["retry", "missing"],
])("model %s, the approval middleware %s", (kind, order) => {
  it("asks once for each call, and makes what was approved once", async () => {
    const agent = await start(kind, order);
    const decide = (title: unknown) => ({ type: title === "a" ? "approve" : "reject" });
    const { state, interrupts } = await answerAll(agent, await agent.invoke(ask, config), decide);
    expect(interrupts).toEqual(order === "missing" ? [1, 1] : [1]);
    expect(await readTitles(service)).toEqual(["a"]);
    expect(readStatuses(state).toSorted()).toEqual(["declined", "succeeded"]);
    expect(String(state.messages.at(-1)?.content)).toBe("Done.");
    expectNothingDangling(state);
  });
});
