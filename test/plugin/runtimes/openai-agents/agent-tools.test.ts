import { Agent, type Model, type ModelResponse, run, setTracingDisabled, Usage } from "@openai/agents";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openAgentTools } from "../../../../src/openai-agents.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";

/** Answers of a host that are no answers to a card. */

let service: TestService;
beforeEach(async () => {
  setTracingDisabled(true);
  service = closeLater(await startTestService());
});
afterEach(closeAll);

const open = async () => closeLater(await openAgentTools({ baseUrl: service.url, apiKey: service.apiKey }));

/** A model that makes these calls, one after the other, and is done. */
function script(...calls: readonly (readonly [name: string, args: string])[]): Model {
  let step = 0;
  return {
    async getResponse(): Promise<ModelResponse> {
      const [name, args] = calls[step] ?? [];
      step += 1;
      const text = { type: "output_text" as const, text: "Done." };
      const output: ModelResponse["output"] =
        name === undefined || args === undefined
          ? [{ type: "message", role: "assistant", status: "completed", content: [text] }]
          : [{ type: "function_call", callId: `call ${step}`, name, arguments: args, status: "completed" }];
      return { usage: new Usage(), output };
    },
    getStreamedResponse() {
      throw new Error("Nothing is streamed here.");
    },
  };
}

const note = (title: string) => ["notes_create_page", JSON.stringify({ title, body: "text" })] as const;

it("alwaysApprove approves one call, and the next one says why it was not run", async () => {
  const { tools, readApprovals } = await open();
  const agent = new Agent({ name: "A", model: script(note("1"), note("2")), tools });
  const { state } = await run(agent, "x");
  for (const { interruption } of await readApprovals(state)) state.approve(interruption, { alwaysApprove: true });
  const ended = await run(agent, state);
  expect(ended.finalOutput).toBe("Done.");
  expect(await service.effects()).toHaveLength(1);
  expect(JSON.stringify(ended.history)).toContain("alwaysApprove approves no call of these tools");
});

describe.each(["{bad", "[]"])("a call with the arguments %s", (args) => {
  it.each([true, false])("is listed, and the run ends (approved: %s)", async (isApproved) => {
    const { tools, readApprovals } = await open();
    const agent = new Agent({ name: "A", model: script(["drive_list_files", args]), tools });
    let ended = await run(agent, "x");
    for (let round = 0; round < 3 && ended.finalOutput === undefined; round += 1) {
      const { state } = ended;
      for (const { interruption, card } of await readApprovals(state)) {
        expect(card.join("\n")).toContain("no JSON object");
        if (isApproved) state.approve(interruption);
        else state.reject(interruption);
      }
      ended = await run(agent, state);
    }
    expect(ended.finalOutput).toBe("Done.");
  });
});

it("questions are shown where the context cannot be written down", async () => {
  class Host {
    readonly database = new Map([[1, this]]);
  }
  const { tools, readApprovals } = await open();
  const agent = new Agent<Host>({ name: "A", model: script(note("1")), tools });
  const { state } = await run(agent, "x", { context: new Host() });
  const approvals = await readApprovals(state);
  expect(approvals).toHaveLength(1);
  for (const { interruption } of approvals) state.approve(interruption);
  expect((await run(agent, state)).finalOutput).toBe("Done.");
  expect(await service.effects()).toHaveLength(1);
});

it("a context that nothing can be added to is refused by its name", async () => {
  const { tools } = await open();
  const agent = new Agent({ name: "A", model: script(note("1")), tools });
  await expect(run(agent, "x", { context: Object.freeze({}) })).rejects.toThrow("an object that can be added to");
  expect(await service.effects()).toEqual([]);
});
