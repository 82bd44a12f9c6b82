import { isStepCount, simulateReadableStream, streamText } from "ai";
import { MockLanguageModelV4 } from "ai/test";
import { afterEach, describe, expect, it } from "vitest";
import { openAiSdkTools } from "../../../../src/ai-sdk.ts";
import type { ToolboxOptions } from "../../../../src/index.ts";
import { openAskedTools } from "../../../../src/plugin/runtimes/library/asked-calls.ts";
import { startTestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";
import { createTool, startScriptedService } from "../../calls/scripted-service.ts";

afterEach(closeAll);

async function open(url: string, apiKey: string, settings: Partial<ToolboxOptions> = {}) {
  const options = { baseUrl: url, apiKey, stateDir: await makeFolder(), idempotencyKeys: "off", ...settings };
  return closeLater(await openAskedTools(options as ToolboxOptions));
}

async function openReal(settings: Partial<ToolboxOptions> = {}) {
  const service = closeLater(await startTestService());
  const opened = await open(service.url, service.apiKey, settings);
  const tool = opened.tools.find(({ name }) => name === "notes_create_page") ?? expect.fail();
  const call = { tool, arguments: { title: "w1", body: "text" } };
  return { service, opened, call };
}

const NO_YES = { approved: undefined, signal: undefined };
const CONFIRM = {
  status: 412,
  body: { status: "blocked", error: { code: "confirmation_required", message: "Confirm this." } },
};
const OK = { status: 200, body: { status: "succeeded", result: { ok: true } } };

describe("a runtime that asks by itself", () => {
  it("runs no write that it has not asked about, and says so", async () => {
    const { service, opened, call } = await openReal();
    expect(JSON.parse(await opened.run(call, NO_YES))).toMatchObject({ status: "needs_approval" });
    expect(await service.effects()).toEqual([]);
  });

  it("has nothing to ask where the host gave an approver", async () => {
    const approve: ToolboxOptions["approve"] = async (request) => sayYes(request);
    const { service, opened, call } = await openReal({ approve });
    expect(await opened.prepare(call)).toBeUndefined();
    expect(JSON.parse(await opened.run(call, NO_YES))).toMatchObject({ status: "succeeded" });
    expect(await service.effects()).toHaveLength(1);
  });

  it("has nothing to ask where the owner of the service decides, who is asked by the service alone", async () => {
    const { service, opened, call } = await openReal({ approve: "owner" });
    expect(await opened.prepare(call)).toBeUndefined();
    expect(JSON.parse(await opened.run(call, NO_YES))).toMatchObject({ status: "needs_approval" });
    expect(await service.effects()).toEqual([]);
  });

  it("takes a yes for the call that was asked about, and for no other", async () => {
    const { service, opened, call } = await openReal();
    const question = (await opened.prepare(call)) ?? expect.fail();
    const other = { ...call, arguments: { title: "other", body: "text" } };
    expect(await opened.findOpen(question.state, other)).toBeUndefined();
    const terms = { approved: question.state, signal: undefined };
    expect(JSON.parse(await opened.run(other, terms))).toMatchObject({ code: "approval_wrong_fingerprint" });
    expect(await service.effects()).toEqual([]);
    expect(JSON.parse(await opened.run(call, terms))).toMatchObject({ status: "succeeded" });
    expect(await service.effects()).toHaveLength(1);
  });

  it("asks at the next try about a call that the service wanted confirmed while it ran", async () => {
    const service = closeLater(await startScriptedService());
    service.offer(createTool("probe_vague", "read", { canonical: undefined }));
    service.answer("/api/tools/probe_vague/execute", CONFIRM, CONFIRM, OK);
    const opened = await open(service.url, "svc_live_test");
    const call = { tool: opened.tools.find(({ name }) => name === "probe_vague") ?? expect.fail(), arguments: {} };
    expect(await opened.prepare(call)).toBeUndefined();
    expect(JSON.parse(await opened.run(call, NO_YES))).toMatchObject({ status: "needs_approval" });
    const { state: approved } = (await opened.prepare(call)) ?? expect.fail("Nobody is asked.");
    expect(JSON.parse(await opened.run(call, { approved, signal: undefined }))).toMatchObject({ status: "succeeded" });
    expect(service.executed().map(({ body }) => body.confirmed)).toEqual([undefined, undefined, true]);
  });

  it("offers actions under their own names while all of them fit, and else none", async () => {
    const whole = await openReal();
    expect(whole.opened.tools.length).toBeGreaterThan(11);
    const service = whole.service;
    const { tools } = await open(service.url, service.apiKey, { maxToolTokens: 100 });
    expect(tools.filter(({ name }) => !name.startsWith("svc_"))).toEqual([]);
    const search = tools.find(({ name }) => name === "svc_search_tools");
    expect(search?.description).toContain(`${whole.opened.tools.length - 11} tools are not in your tool list`);
    await expect(open(service.url, service.apiKey, { maxToolTokens: -1 })).rejects.toMatchObject({
      code: "invalid_config",
      field: "maxToolTokens",
    });
  });
});

it("asks in a stream of the AI SDK, about a call by svc_call_tool too", async () => {
  const service = closeLater(await startTestService());
  const settings = { baseUrl: service.url, apiKey: service.apiKey, maxToolTokens: 0 };
  const { tools, toolApproval } = closeLater(await openAiSdkTools(settings));
  const zero = { total: 0, noCache: 0, cacheRead: 0, cacheWrite: 0, text: 0, reasoning: 0 };
  const input = JSON.stringify({ name: "notes_create_page", arguments: { title: "w1", body: "text" } });
  const model = new MockLanguageModelV4({
    doStream: {
      stream: simulateReadableStream({
        chunks: [
          { type: "stream-start", warnings: [] },
          { type: "tool-call", toolCallId: "1", toolName: "svc_call_tool", input },
          {
            type: "finish",
            finishReason: { unified: "tool-calls", raw: undefined },
            usage: { inputTokens: zero, outputTokens: zero },
          },
        ],
      }),
    },
  });
  const { fullStream } = streamText({ model, tools, toolApproval, prompt: "Please.", stopWhen: isStepCount(3) });
  const parts = await Array.fromAsync(fullStream);
  const request = parts.find(({ type }) => type === "tool-approval-request");
  expect(request).toMatchObject({ reason: expect.stringContaining("notes_create_page, writes") });
  expect(await service.effects()).toEqual([]);
});
