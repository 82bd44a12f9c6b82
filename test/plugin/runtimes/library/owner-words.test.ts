import { RunContext } from "@openai/agents";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAiSdkTools } from "../../../../src/ai-sdk.ts";
import { openToolbox } from "../../../../src/index.ts";
import { openAgentTools } from "../../../../src/openai-agents.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";
import { createTool, type ScriptedService, startScriptedService } from "../../calls/scripted-service.ts";

/** Each SDK marks what its user typed, and nothing that a tool or a model wrote. */

let service: ScriptedService;
let settings: { baseUrl: string; apiKey: string };

beforeEach(async () => {
  service = closeLater(await startScriptedService());
  service.offer(createTool("probe_send", "write"));
  settings = { baseUrl: service.url, apiKey: "svc_live_test" };
});
afterEach(closeAll);

const ARGS = { text: "bea@own.example" };
const TYPED = "Known │ typed by you, as this device says: 1 value";

/** The lines of a card in one. */
const flatten = (text: string) => text.replaceAll(/\s+/g, " ");

describe("the AI SDK", () => {
  const ask = async (messages: readonly object[]) => {
    const { toolApproval } = closeLater(await openAiSdkTools(settings));
    const asked = await toolApproval.probe_send?.(ARGS, { toolCallId: "1", messages } as never);
    return flatten(typeof asked === "object" && "reason" in asked ? String(asked.reason) : "");
  };

  it("reads the messages of the user", async () => {
    expect(await ask([{ role: "user", content: "Tell bea@own.example" }])).toContain(TYPED);
    expect(await ask([{ role: "user", content: [{ type: "text", text: "Tell bea@own.example" }] }])).toContain(TYPED);
    const output = { type: "text", value: "bea@own.example" };
    const others = [
      { role: "user", content: "Go on." },
      { role: "system", content: "bea@own.example" },
      { role: "assistant", content: "bea@own.example" },
      { role: "tool", content: [{ type: "tool-result", toolCallId: "0", toolName: "x", output }] },
    ];
    const shown = await ask(others);
    expect(shown).not.toContain("typed by you");
    expect(shown).toContain("bea@own.example: not in what tools answered");
  });
});

describe("the OpenAI Agents SDK", () => {
  it("takes them from the context of the run", async () => {
    const { tools, readApprovals } = closeLater(await openAgentTools(settings));
    const tool = tools.find(({ name }) => name === "probe_send") ?? expect.fail();
    const run = new RunContext({ svcOwnerWords: ["Tell bea@own.example"] });
    expect(await tool.needsApproval(run, ARGS as never, "1")).toBe(true);
    const interruption = { rawItem: { type: "function_call", callId: "1" } };
    const state = { getInterruptions: () => [interruption], toJSON: () => ({ context: { context: run.context } }) };
    const [approval] = await readApprovals(state as never);
    expect(flatten(approval?.card.join("\n") ?? "")).toContain(TYPED);
  });
});

describe("a runtime of one's own", () => {
  it("gives them with the call", async () => {
    const cards: string[] = [];
    const toolbox = closeLater(
      await openToolbox({
        ...settings,
        approve: async ({ id, fingerprint, origins = [] }) => {
          cards.push(origins.map(({ origin }) => origin).join());
          return { type: "decline", id, fingerprint };
        },
      }),
    );
    const tool = toolbox.tools.find(({ name }) => name === "probe_send") ?? expect.fail();
    await tool.run(ARGS, { callId: "1", ownerWords: ["Tell bea@own.example"] });
    await tool.run(ARGS, { callId: "2", ownerWords: () => ["Go on."] });
    expect(cards).toEqual(["you", "unseen"]);
  });
});
