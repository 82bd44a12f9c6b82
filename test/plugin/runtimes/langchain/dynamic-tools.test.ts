import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { Command, MemorySaver } from "@langchain/langgraph";
import { type AgentMiddleware, createAgent, createMiddleware, toolRetryMiddleware } from "langchain";
import { afterEach, describe, expect, it } from "vitest";
import { createApprovalMiddleware, createDynamicToolsMiddleware, SvcToolkit } from "../../../../src/langchain.ts";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import { SvcTool } from "../../../../src/plugin/runtimes/langchain/svc-tool.ts";
import { startTestService } from "../../../../src/testing.ts";
import { generateTools, startCatalogService } from "../../calls/catalog-service.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";
import { createTool, startScriptedService } from "../../calls/scripted-service.ts";

/** Thousands of tools with a short tool list. */

afterEach(closeAll);

type Service = { readonly url: string; readonly apiKey?: string };

async function open(service: Service, change: Partial<Parameters<typeof SvcToolkit.create>[0]> = {}) {
  const toolkit = await SvcToolkit.create({
    baseUrl: service.url,
    apiKey: service.apiKey ?? "svc_live_test",
    describeAhead: 0,
    approve: async (request) => sayYes(request),
    ...change,
  });
  return closeLater(toolkit);
}

/** The tool names a fake model was given on each of its turns. */
function spyOnTools(model: ReturnType<typeof fakeModel>): string[][] {
  const turns: string[][] = [];
  onBind(model, (tools) => void turns.push(tools.map((tool) => tool.name)));
  return turns;
}

/** Sees the tools of each turn before the model does. */
function onBind(model: ReturnType<typeof fakeModel>, see: (tools: readonly SvcTool[]) => void): void {
  const bind = model.bindTools.bind(model);
  model.bindTools = (tools) => {
    see(tools.filter((tool) => tool instanceof SvcTool));
    return bind(tools);
  };
}

const results = (messages: readonly BaseMessage[]) => messages.filter((message) => ToolMessage.isInstance(message));
const ask = (content: string) => ({ messages: [{ role: "user" as const, content }] });

describe("an agent over 5,000 tools", () => {
  it("finds a tool, has it under its own name on the next turn, and calls it", async () => {
    const tools = generateTools(5_000);
    const service = closeLater(await startCatalogService(tools));
    const toolkit = await open(service);
    const model = fakeModel()
      .respondWithTools([{ name: "svc_search_tools", args: { query: "number 4321" }, id: "1" }])
      .respondWithTools([{ name: "app-1_action_4321", args: { field_0: "x", field_1: 1 }, id: "2" }])
      .respond(new AIMessage("Done."));
    const turns = spyOnTools(model);
    const agent = createAgent({ model, middleware: [await createDynamicToolsMiddleware(toolkit)] });
    const { messages } = await agent.invoke(ask("do number 4321"));
    expect(turns[0]).toHaveLength(11);
    expect(turns[1]).toEqual([...(turns[0] ?? []), "app-1_action_4321"]);
    expect(results(messages)[1]?.artifact).toMatchObject({ toolName: "app-1_action_4321" });
    expect(service.requests.filter((request) => request.startsWith("GET /api/tools/app-"))).toHaveLength(1);
  });

  it("says how many tools the list does not show, and that a search may have more", async () => {
    const service = closeLater(await startCatalogService(generateTools(5_000)));
    const toolkit = await open(service);
    const search = toolkit.getTools({ limit: 10 }).find((tool) => tool.name === "svc_search_tools");
    expect(search?.description).toContain("4990 tools are not in your tool list");
    const outcome: unknown = await search?.invoke({ query: "number", limit: 5 });
    expect(JSON.parse(String(outcome)).hint).toContain("there may be more");
  });

  it("counts what the service itself does not list", async () => {
    const service = closeLater(
      await startCatalogService(generateTools(300).map((tool) => ({ ...tool, integration: "one" }))),
    );
    const stateDir = await makeFolder();
    const describeSearch = (toolkit: SvcToolkit) =>
      toolkit.getTools({ limit: 1 }).find((tool) => tool.name === "svc_search_tools")?.description;
    const cold = await open(service, { stateDir });
    expect(describeSearch(cold)).toContain("299 tools are not in your tool list");
    await cold.close();
    expect(describeSearch(await open(service, { stateDir }))).toContain("299 tools are not in your tool list");
  });

  it("starts warm without any request, with descriptions too", async () => {
    const service = closeLater(await startCatalogService(generateTools(5_000)));
    const stateDir = await makeFolder();
    const cold = await open(service, { stateDir, describeAhead: 20 });
    await cold.close();
    const before = service.requests.length;
    const warm = await open(service, { stateDir, describeAhead: 20 });
    const tools = warm.getTools({ limit: 20, staticTools: false });
    expect(tools.map((tool) => convertToOpenAITool(tool).function.parameters)).toHaveLength(20);
    await warm.close();
    expect(service.requests).toHaveLength(before);
  });
});

describe("the middleware", () => {
  it("binds a described tool too, goes on after a restart, and keeps threads apart", async () => {
    const service = closeLater(await startTestService());
    const checkpointer = new MemorySaver();
    const model = fakeModel()
      .respondWithTools([{ name: "svc_describe_tool", args: { name: "notes_create_page" }, id: "1" }])
      .respond(new AIMessage("Described."))
      .respondWithTools([{ name: "notes_create_page", args: { title: "T", body: "b" }, id: "2" }])
      .respond(new AIMessage("Created."))
      .respond(new AIMessage("Hello."));
    const middleware = async () => [
      await createDynamicToolsMiddleware(await open(service, { askThrough: "callback" })),
    ];
    const thread = { configurable: { thread_id: "a" } };
    await createAgent({ model, middleware: await middleware(), checkpointer }).invoke(ask("look"), thread);
    const turns = spyOnTools(model);
    const agent = createAgent({ model, middleware: await middleware(), checkpointer });
    await agent.invoke(ask("create it"), thread);
    expect(turns[0]).toContain("notes_create_page");
    expect((await service.effects()).map(({ toolName }) => toolName)).toEqual(["notes_create_page"]);
    await agent.invoke(ask("hello"), { configurable: { thread_id: "b" } });
    expect(turns.at(-1)).not.toContain("notes_create_page");
  });

  it("says that the service is away when a found tool can be described no more", async () => {
    const service = await startTestService();
    const toolkit = await open(service);
    const model = fakeModel()
      .respondWithTools([{ name: "svc_search_tools", args: { query: "create page" }, id: "1" }])
      .respondWithTools([{ name: "notes_create_page", args: { title: "T", body: "b" }, id: "2" }])
      .respond(new AIMessage("It is away."));
    const stop = createMiddleware({
      name: "Stop",
      wrapToolCall: async (request, handler) => {
        const answer = await handler(request);
        await service.close();
        return answer;
      },
    });
    const middleware = [await createDynamicToolsMiddleware(toolkit), stop];
    const { messages } = await createAgent({ model, middleware }).invoke(ask("create it"));
    expect(results(messages)[1]).toMatchObject({
      tool_call_id: "2",
      status: "error",
      artifact: { status: "failed", code: "unreachable" },
    });
  });

  it("never replaces or doubles a tool the agent was made with", async () => {
    const service = closeLater(await startTestService());
    const toolkit = await open(service);
    const model = fakeModel()
      .respondWithTools([{ name: "svc_describe_tool", args: { name: "drive_list_files" }, id: "1" }])
      .respondWithTools([{ name: "drive_list_files", args: {}, id: "2" }])
      .respond(new AIMessage("Done."));
    const turns = spyOnTools(model);
    const tools = toolkit.getTools({ integrations: ["drive"] });
    const middleware = [await createDynamicToolsMiddleware(toolkit, { staticTools: false })];
    const { messages } = await createAgent({ model, tools, middleware }).invoke(ask("list"));
    expect(results(messages).map(({ status }) => status)).toEqual(["success", "success"]);
    for (const names of turns) expect(new Set(names).size).toBe(names.length);
  });

  it("runs a tool of the service that the model calls before it has found it, and no other", async () => {
    const service = closeLater(await startTestService());
    const toolkit = await open(service);
    const model = fakeModel()
      .respondWithTools([
        { name: "notes_create_page", args: { title: "T", body: "b" }, id: "1" },
        { name: "notes_crete_page", args: {}, id: "2" },
      ])
      .respond(new AIMessage("Done."));
    const agent = createAgent({ model, middleware: [await createDynamicToolsMiddleware(toolkit)] });
    const { messages } = await agent.invoke(ask("create it"));
    expect(results(messages).map(({ status }) => status)).toEqual(["success", "error"]);
    expect(await service.effects()).toHaveLength(1);
  });

  it("asks through the approval middleware, with a retry middleware around, and writes once", async () => {
    const service = closeLater(await startTestService());
    const toolkit = await open(service, { askThrough: "interrupt" });
    const model = fakeModel()
      .respondWithTools([{ name: "svc_search_tools", args: { query: "create a page" }, id: "1" }])
      .respondWithTools([{ name: "notes_create_page", args: { title: "T", body: "b" }, id: "2" }])
      .respond(new AIMessage("Done."));
    // LangChain's own types do not fit exact optional properties here.
    const retry = toolRetryMiddleware({ maxRetries: 2, initialDelayMs: 1 }) as unknown as AgentMiddleware;
    const middleware = [await createDynamicToolsMiddleware(toolkit), await createApprovalMiddleware(toolkit), retry];
    const agent = createAgent({ model, middleware, checkpointer: new MemorySaver() });
    const thread = { configurable: { thread_id: "t" } };
    const stopped = await agent.invoke(ask("create it"), thread);
    expect("__interrupt__" in stopped).toBe(true);
    expect(await service.effects()).toEqual([]);
    const done = await agent.invoke(new Command({ resume: { decisions: [{ type: "approve" }] } }), thread);
    expect(done.messages.at(-1)?.text).toBe("Done.");
    expect(await service.effects()).toHaveLength(1);
  });

  it("tells the model once that a tool changed, and shows the new arguments on the next turn", async () => {
    const service = closeLater(await startScriptedService());
    const schema = (name: string) => ({ type: "object", properties: { [name]: { type: "string" } }, required: [name] });
    service.offer(createTool("probe_read", "read", { inputSchema: schema("old") }));
    const refusal = { ok: false, error: { code: "invalid_arguments", message: "`fresh` is missing." } };
    service.answer(
      "/api/tools/probe_read/execute",
      { status: 400, body: refusal },
      { status: 200, body: { ok: true, result: 1 } },
    );
    const toolkit = await open(service);
    const model = fakeModel()
      .respondWithTools([{ name: "svc_describe_tool", args: { name: "probe_read" }, id: "1" }])
      .respondWithTools([{ name: "probe_read", args: { old: "a" }, id: "2" }])
      .respondWithTools([{ name: "probe_read", args: { fresh: "a" }, id: "3" }])
      .respond(new AIMessage("Done."));
    const shown: unknown[] = [];
    onBind(model, (tools) => {
      const tool = tools.find(({ name }) => name === "probe_read");
      if (tool === undefined) return;
      shown.push(convertToOpenAITool(tool).function.parameters);
      // Changed between the description and the call.
      service.offer(createTool("probe_read", "read", { inputSchema: schema("fresh") }));
    });
    const agent = createAgent({ model, middleware: [await createDynamicToolsMiddleware(toolkit)] });
    const { messages } = await agent.invoke(ask("read"));
    const outcomes = results(messages).map(({ artifact }) => artifact as ToolOutcome);
    expect(outcomes.map(({ status }) => status)).toEqual(["succeeded", "failed", "succeeded"]);
    expect(outcomes.filter(({ notes }) => notes.join().includes("have changed"))).toHaveLength(1);
    expect(shown.at(-1)).toMatchObject({ required: ["fresh"] });
  });
});

describe("a list of tools", () => {
  it("for providers that search themselves has the arguments of each tool, beyond the usual limit", async () => {
    const service = closeLater(await startCatalogService(generateTools(300)));
    const toolkit = await open(service);
    const filter = { deferLoading: true, limit: 250, staticTools: false };
    expect(() => toolkit.getTools(filter)).toThrow(
      expect.objectContaining({
        code: "invalid_config",
        field: "deferLoading",
        message: expect.stringContaining("250 of"),
      }),
    );
    const deferred = await toolkit.loadTools(filter);
    expect(deferred).toHaveLength(250);
    expect(deferred.every(({ extras }) => extras?.defer_loading === true)).toBe(true);
    for (const tool of deferred) {
      const { parameters } = convertToOpenAITool(tool).function;
      expect(Object.keys(Object(Object(parameters).properties)).length).toBeGreaterThan(3);
    }
    expect(toolkit.getTools(filter)).toEqual(deferred);
    expect(toolkit.getTools({ limit: 1, staticTools: false })[0]?.extras).toBeUndefined();
  });

  it("is described ahead as far as was asked for", async () => {
    const service = closeLater(await startCatalogService(generateTools(200)));
    const toolkit = await open(service, { describeAhead: 180 });
    expect(toolkit.getTools({ deferLoading: true, limit: 180, staticTools: false })).toHaveLength(180);
  });

  it("has all actions while they fit a budget of tokens, and none beyond it", async () => {
    const service = closeLater(await startCatalogService(generateTools(20)));
    const toolkit = await open(service);
    const all = toolkit.getTools({ staticTools: false });
    const characters = all.map(
      ({ name, description, schema }) => `${name}${description}${JSON.stringify(schema)}`.length,
    );
    const tokens = Math.ceil(characters.reduce((sum, length) => sum + length, 0) / 4);
    expect(toolkit.getTools({ staticTools: false, maxToolTokens: tokens })).toEqual(all);
    const [search] = toolkit
      .getTools({ maxToolTokens: tokens - 1 })
      .filter(({ name }) => !name.startsWith("svc_") || name === "svc_search_tools");
    expect(search?.name).toBe("svc_search_tools");
    expect(search?.description).toContain(" 20 tools are not in your tool list");
  });

  it("tells the host how many tools its limit keeps back, and the process where no model is told either", async () => {
    const service = closeLater(await startCatalogService(generateTools(100)));
    const events: unknown[] = [];
    const toolkit = await open(service, { onEvent: (event: unknown) => void events.push(event) });
    toolkit.getTools({ limit: 30 });
    toolkit.getTools({ limit: 30 });
    toolkit.getTools({ limit: 100 });
    expect(events).toContainEqual({ type: "tools_left_out", listed: 30, count: 70 });
    expect(events.filter((event) => (event as { type: string }).type === "tools_left_out")).toHaveLength(1);
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    (await open(service)).getTools({ staticTools: false });
    expect(await warned).toMatchObject({
      name: "SvcWarning",
      message: expect.stringContaining("36 tools are left out"),
    });
  });

  it("keeps its words and its number while tools are found", async () => {
    const tools = generateTools(700).map((tool) => ({ ...tool, integration: "one" }));
    const service = closeLater(await startCatalogService(tools));
    const stateDir = await makeFolder();
    const toolkit = await open(service, { stateDir });
    const search = toolkit.getTools().find(({ name }) => name === "svc_search_tools");
    const before = search?.description;
    expect(before).toContain(" 636 tools are not in your tool list");
    for (const query of ["number 65", "number 44"]) {
      await search?.invoke({ type: "tool_call", id: query, name: "svc_search_tools", args: { query, limit: 20 } });
    }
    expect(toolkit.session.catalog.size).toBeGreaterThan(210);
    expect(search?.description).toBe(before);
    toolkit.getTools();
    expect(search?.description).toBe(before);
    await toolkit.session.catalog.sync();
    toolkit.getTools();
    expect(search?.description).toBe(before);
    await toolkit.close();
    const later = await open(service, { stateDir });
    expect(later.getTools().find(({ name }) => name === "svc_search_tools")?.description).toBe(before);
  });
});
