import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import { fakeModel } from "@langchain/core/testing";
import { convertToOpenAITool } from "@langchain/core/utils/function_calling";
import { createAgent } from "langchain";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type SvcTool, SvcToolkit, type SvcToolkitOptions, type ToolFilter } from "../../../../src/langchain.ts";
import type { ApprovalRequest } from "../../../../src/plugin/calls/ask/request.ts";
import type { ToolOutcome } from "../../../../src/plugin/calls/outcome.ts";
import { projectEntry } from "../../../../src/plugin/calls/projection.ts";
import { STATIC_TOOL_NAMES } from "../../../../src/plugin/calls/static-tools.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater, makeFolder, sayNo, sayYes } from "../../calls/open-test-session.ts";

let service: TestService;
let media: string;
let asked: ApprovalRequest[];
let answer: (request: ApprovalRequest) => ReturnType<typeof sayYes>;

beforeEach(async () => {
  service = closeLater(await startTestService());
  media = await makeFolder();
  asked = [];
  answer = sayYes;
});
afterEach(closeAll);

async function open(change: Partial<SvcToolkitOptions> = {}): Promise<SvcToolkit> {
  const toolkit = await SvcToolkit.create({
    baseUrl: service.url,
    apiKey: service.apiKey,
    mediaRoots: [media],
    approve: async (request) => {
      asked.push(request);
      return answer(request);
    },
    ...change,
  });
  return closeLater(toolkit);
}

function toolNamed(toolkit: SvcToolkit, name: string): SvcTool {
  const tool = toolkit.getTools().find((candidate) => candidate.name === name);
  if (tool === undefined) throw new Error(`No tool ${name}`);
  return tool;
}

const call = (name: string, args: Record<string, unknown>, id = "call_1") =>
  ({ type: "tool_call", name, args, id }) as const;

function readTranscript(messages: readonly BaseMessage[]): string {
  return JSON.stringify(messages.map((message) => [message.getType(), message.content]));
}

describe("getTools", () => {
  it("gives real tools with the service's own schemas, then the static ones", async () => {
    const toolkit = await open();
    const tools = toolkit.getTools();
    const names = tools.map((tool) => tool.name);
    expect(names).toContain("drive_upload_file");
    expect(names.slice(-STATIC_TOOL_NAMES.length)).toEqual([...STATIC_TOOL_NAMES]);
    const upload = convertToOpenAITool(toolNamed(toolkit, "drive_upload_file"));
    expect(upload.function.parameters).toMatchObject({ type: "object", properties: { file: { type: "object" } } });
    expect(upload.function.description).toContain("Asks the user for approval");
    for (const tool of tools) expect(convertToOpenAITool(tool).function.parameters).toMatchObject({ type: "object" });
  });

  it("filters by app, level, name and number", async () => {
    const toolkit = await open();
    const pick = (filter: ToolFilter) => toolkit.getTools({ staticTools: false, ...filter }).map((tool) => tool.name);
    expect(pick({ integrations: ["notes"], levels: ["read"] }).every((name) => name.startsWith("notes_"))).toBe(true);
    expect(pick({ levels: ["delete"] }).length).toBeGreaterThan(0);
    expect(pick({ levels: ["delete"] })).not.toContain("drive_list_files");
    expect(pick({ tools: ["drive_list_files"] })).toEqual(["drive_list_files"]);
    expect(pick({ limit: 2 })).toHaveLength(2);
  });

  it("returns the same object while nothing changed", async () => {
    const toolkit = await open();
    expect(toolNamed(toolkit, "drive_list_files")).toBe(toolNamed(toolkit, "drive_list_files"));
  });

  it("gives LangChain a copy of the schema: a provider that changes it changes nobody else's", async () => {
    const toolkit = await open();
    const [tool] = toolkit.getTools({ limit: 1, staticTools: false });
    const name = String(tool?.metadata?.toolName);
    const shown = () => projectEntry(toolkit.session.catalog.peek(name) ?? { inputSchema: null }, "full").schema;
    const before = structuredClone(shown());
    const sent = convertToOpenAITool(tool as never).function.parameters ?? {};
    expect(sent).toEqual(before);
    Object.assign(Object(Reflect.get(sent, "properties")), { changed: true });
    expect(shown()).toEqual(before);
  });

  it("starts from the cache the second time", async () => {
    const stateDir = await makeFolder();
    await (await open({ stateDir })).close();
    const again = await open({ stateDir });
    expect(again.getTools().length).toBeGreaterThan(10);
  });
});

describe("a tool", () => {
  it("answers a tool call with a message and the outcome as its artifact", async () => {
    const toolkit = await open();
    const message: unknown = await toolNamed(toolkit, "drive_list_files").invoke(call("drive_list_files", {}));
    if (!ToolMessage.isInstance(message)) throw new Error("no ToolMessage");
    expect(message).toMatchObject({ status: "success", tool_call_id: "call_1", name: "drive_list_files" });
    expect(message.artifact).toMatchObject({ status: "succeeded", toolName: "drive_list_files" });
    expect(JSON.parse(String(message.content))).toMatchObject({ status: "succeeded" });
  });

  it("answers bare arguments with the content", async () => {
    const toolkit = await open();
    const content: unknown = await toolNamed(toolkit, "drive_list_files").invoke({});
    expect(JSON.parse(String(content))).toMatchObject({ status: "succeeded" });
  });

  it.each<[string, string, unknown]>([
    ["wrong arguments", "drive_read_file", { path: 5, nonsense: true }],
    ["a missing file", "drive_upload_file", { file: "/nowhere/a.txt" }],
    ["an unknown tool", "svc_call_tool", { name: "drive_fly", arguments: {} }],
  ])("never throws for %s: an error message explains", async (_name, tool, args) => {
    const toolkit = await open();
    const message: unknown = await toolNamed(toolkit, tool).invoke(call(tool, args as Record<string, unknown>));
    if (!ToolMessage.isInstance(message)) throw new Error("no ToolMessage");
    expect(message.status).toBe("error");
    expect((message.artifact as ToolOutcome).status).toBe("failed");
    expect(String(message.content)).not.toMatch(/\bat .*\.(ts|js):\d+/);
  });

  it("never throws when the service is gone", async () => {
    const toolkit = await open();
    await service.service.close();
    const message: unknown = await toolNamed(toolkit, "drive_list_files").invoke(call("drive_list_files", {}));
    expect(message).toMatchObject({ status: "error", artifact: { status: "failed", code: "unreachable" } });
  });

  it("called with an aborted signal does nothing and rejects", async () => {
    const toolkit = await open();
    const signal = AbortSignal.abort();
    const tool = toolNamed(toolkit, "notes_create_page");
    await expect(tool.invoke(call("notes_create_page", { title: "x" }), { signal })).rejects.toMatchObject({
      name: "AbortError",
    });
    expect(asked).toEqual([]);
    expect(await service.effects()).toEqual([]);
  });

  it("lets a graph's control flow through", async () => {
    const interrupt = Object.assign(new Error("interrupt"), { is_bubble_up: true });
    const toolkit = await open({ approve: () => Promise.reject(interrupt) });
    const tool = toolNamed(toolkit, "notes_create_page");
    await expect(tool.invoke(call("notes_create_page", { title: "x", body: "y" }))).rejects.toBe(interrupt);
    expect(await service.effects()).toEqual([]);
  });

  it("runs nothing that needs an approver whose choice fails, and says so", async () => {
    const toolkit = await open({
      chooseApprover: () => {
        throw new Error("no such user");
      },
    });
    const write = toolNamed(toolkit, "notes_create_page").invoke(call("notes_create_page", { title: "x", body: "y" }));
    expect(await write).toMatchObject({ artifact: { status: "needs_approval", code: "approval_failed" } });
    expect(await service.effects()).toEqual([]);
    const read = toolNamed(toolkit, "drive_list_files").invoke(call("drive_list_files", {}));
    expect(await read).toMatchObject({ artifact: { status: "succeeded" } });
  });

  it("asks the approver chosen for the run", async () => {
    const toolkit = await open({
      chooseApprover: (config) => (config.configurable?.user === "b" ? async (request) => sayNo(request) : undefined),
    });
    const tool = toolNamed(toolkit, "notes_create_page");
    const args = call("notes_create_page", { title: "x", body: "y" });
    expect(await tool.invoke(args, { configurable: { user: "b" } })).toMatchObject({
      artifact: { status: "declined" },
    });
    expect(await tool.invoke(args, { configurable: { user: "a" } })).toMatchObject({
      artifact: { status: "succeeded" },
    });
  });

  it("uses the account the host configured", async () => {
    const folder = await makeFolder();
    await writeFile(join(folder, "only-here.txt"), "x");
    const second = await service.service.connections.add({
      integration: "drive",
      label: "Second",
      settings: { folder },
    });
    const toolkit = await open();
    const config = { configurable: { svcConnections: { drive: second.id } } };
    const message = await toolNamed(toolkit, "drive_list_files").invoke(call("drive_list_files", {}), config);
    expect(JSON.stringify(message)).toContain("only-here.txt");
  });

  it("makes a call again after a re-run of the same thread only once", async () => {
    const toolkit = await open();
    const tool = toolNamed(toolkit, "notes_create_page");
    const args = call("notes_create_page", { title: "x", body: "y" });
    const config = { configurable: { thread_id: "t1", checkpoint_id: "c1" } };
    await tool.invoke(args, config);
    await tool.invoke(args, config);
    expect(await service.effects()).toHaveLength(1);
    await tool.invoke(args, { configurable: { thread_id: "t2" } });
    await tool.invoke(args);
    await tool.invoke(args);
    expect(asked).toHaveLength(4);
  });
});

describe("an agent", () => {
  it("reads, writes a file after approval, and is declined, and learns nothing it must not know", async () => {
    const path = join(media, "cat.txt");
    await writeFile(path, "meow\n");
    const model = fakeModel()
      .respondWithTools([{ name: "drive_list_files", args: {}, id: "r1" }])
      .respondWithTools([{ name: "drive_upload_file", args: { file: path, folder: "pets" }, id: "w1" }])
      .respondWithTools([{ name: "notes_create_page", args: { title: "No", body: "no" }, id: "w2" }])
      .respond(new AIMessage("Done."));
    answer = (request) => (request.tool === "notes_create_page" ? sayNo(request) : sayYes(request));
    const toolkit = await open();
    const agent = createAgent({ model, tools: toolkit.getTools() });
    const { messages } = await agent.invoke({ messages: [{ role: "user", content: `Save ${path} to my drive.` }] });
    const results = messages.filter((message) => ToolMessage.isInstance(message));
    expect(results.map((message) => message.status)).toEqual(["success", "success", "error"]);
    expect(results.map((message) => (message.artifact as ToolOutcome).status)).toEqual([
      "succeeded",
      "succeeded",
      "declined",
    ]);
    const effects = await service.effects();
    expect(effects.map((effect) => effect.toolName)).toEqual(["drive_upload_file"]);
    expect(asked.map((request) => request.tool)).toEqual(["drive_upload_file", "notes_create_page"]);
    const transcript = readTranscript(messages);
    expect(transcript).not.toContain("svc_live_");
    expect(transcript).not.toMatch(/node_modules|\.[jt]s:\d+/);
    expect(transcript).not.toContain(service.dataDir);
    expect(transcript.replaceAll(path, "")).not.toContain(media);
  });
});
