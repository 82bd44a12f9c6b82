import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SvcClient } from "../../../../src/index.ts";
import {
  createApprovalMiddleware,
  createDynamicToolsMiddleware,
  SvcToolkit,
  type ToolFilter,
} from "../../../../src/langchain.ts";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { closeAll, closeLater } from "../../calls/open-test-session.ts";

/** A wrong setting is refused where it is given, and a filter that finds less than it names says so. */

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function open(change: Record<string, unknown> = {}): Promise<SvcToolkit> {
  return closeLater(await SvcToolkit.create({ baseUrl: service.url, apiKey: service.apiKey, ...change }));
}

describe("a toolkit", () => {
  it.each<[string, unknown]>([
    ["interruptTtlMs", Number.NaN],
    ["interruptTtlMs", -1],
    ["interruptTtlMs", 0],
    ["interruptTtlMs", 25 * 24 * 60 * 60 * 1_000],
    ["interruptTtlMs", "600000"],
    ["approvalTtlMs", Number.NaN],
    ["approvalTtlMs", Number.POSITIVE_INFINITY],
    ["connectTimeoutMs", -1],
    ["timeoutMs", 0],
    ["maxResultChars", Number.NaN],
    ["describeAhead", -1],
    ["describeAhead", Number.NaN],
    ["describeAhead", 2.5],
    ["describeAhead", 10_001],
    ["integrations", "drive"],
    ["integrations", [""]],
    ["integrations", ["drive", " "]],
    ["integrations", [undefined]],
    ["integrations", null],
    ["askThrough", "callbacks"],
    ["upload", "inline"],
    ["validation", "lenient"],
    ["profile", "claude"],
    ["idempotencyKeys", "always"],
    ["pinning", "on"],
    ["approve", "yes"],
    ["approve", true],
    ["chooseApprover", "me"],
    ["onEvent", {}],
    ["interuptTtlMs", 600_000],
    ["limit", 10],
    ["stateDir", ""],
    ["mediaRoots", "/tmp/x"],
    ["mediaRoots", [undefined]],
    ["mediaRoots", ["/tmp/x", ""]],
    ["mediaRoots", [{ areas: [] }]],
    ["mediaFiles", "/tmp/x"],
  ])("is not made with %s %j", async (field, value) => {
    await expect(open({ [field]: value })).rejects.toMatchObject({ code: "invalid_config", field });
  });

  it("says which one cannot be meant, and what can", async () => {
    const said = (change: Record<string, unknown>) => open(change).catch((error: unknown) => error);
    expect(await said({ mediaRoots: [undefined] })).toMatchObject({
      message: "mediaRoots[0] is undefined and no path.",
      hint: "Give absolute paths. Is a variable of the environment not set?",
    });
    expect(await said({ mediaRoots: "/tmp/x" })).toMatchObject({
      message: 'The setting mediaRoots must be a list of absolute paths and not "/tmp/x".',
    });
    expect(await said({ approve: "yes" })).toMatchObject({
      message: 'The setting approve must be a function, or "owner" and not "yes".',
    });
    expect(await said({ interuptTtlMs: 1 })).toMatchObject({
      message: 'There is no setting "interuptTtlMs".',
      hint: expect.stringContaining(" interruptTtlMs"),
    });
  });

  it("is made with the outermost values", async () => {
    const longest = 24 * 24 * 60 * 60 * 1_000;
    const toolkit = await open({ interruptTtlMs: longest, approvalTtlMs: 1, describeAhead: 500 });
    expect(toolkit.getTools().length).toBeGreaterThan(10);
  });
});

describe("the dynamic tools middleware", () => {
  it("is not made with a setting that it does not have, nor is the other one", async () => {
    const toolkit = await open();
    const wrong = { maxTool: 5 } as object;
    for (const make of [createDynamicToolsMiddleware, createApprovalMiddleware]) {
      await expect(make(toolkit, wrong)).rejects.toMatchObject({ code: "invalid_config", field: "maxTool" });
    }
  });

  it.each([Number.NaN, 0, 1.5, 101])("is not made with maxTools %j", async (maxTools) => {
    const making = createDynamicToolsMiddleware(await open(), { maxTools });
    await expect(making).rejects.toMatchObject({ code: "invalid_config", field: "maxTools" });
  });
});

describe("getTools", () => {
  it.each<[string, Record<string, unknown>]>([
    ["limit", { limit: Number.NaN }],
    ["limit", { limit: 0 }],
    ["limit", { limit: 2.5 }],
    ["limit", { limit: 118 }],
    ["limit", { limit: 10_001, deferLoading: true }],
    ["integrations", { integrations: "drive" }],
    ["integrations", { integrations: [""] }],
    ["tools", { tools: ["drive_list_files", ""] }],
    ["levels", { levels: ["reed"] }],
    ["level", { level: ["read"] }],
    ["staticTools", { staticTools: "no" }],
  ])("refuses a wrong %s", async (field, filter) => {
    const toolkit = await open();
    expect(() => toolkit.getTools(filter as ToolFilter)).toThrow(
      expect.objectContaining({ code: "invalid_config", field }),
    );
  });

  it("reports names and apps that the service does not have, and tells the model", async () => {
    const events: SessionEvent[] = [];
    const toolkit = await open({ onEvent: (event: SessionEvent) => events.push(event) });
    const filter = { tools: ["drive_list_files", "drive_lst_files"], integrations: ["drive", "drvie"] };
    const tools = toolkit.getTools(filter);
    expect(tools.map(({ name }) => name)).toContain("drive_list_files");
    const reported = events.filter(({ type }) => type === "tools_not_found");
    expect(reported).toEqual([{ type: "tools_not_found", tools: ["drive_lst_files"], integrations: ["drvie"] }]);
    const search = tools.find(({ name }) => name === "svc_search_tools");
    expect(search?.description).toContain('not known to the service: the tool "drive_lst_files", the app "drvie"');
    toolkit.getTools(filter);
    expect(events.filter(({ type }) => type === "tools_not_found")).toHaveLength(1);
    toolkit.getTools({ integrations: ["drive"] });
    expect(search?.description).not.toContain("drvie");
  });

  it("reports an app that the toolkit was made for in vain", async () => {
    const events: SessionEvent[] = [];
    const toolkit = await open({ integrations: ["drvie"], onEvent: (event: SessionEvent) => events.push(event) });
    expect(toolkit.getTools({ staticTools: false })).toEqual([]);
    expect(events.at(-1)).toEqual({ type: "tools_not_found", tools: [], integrations: ["drvie"] });
  });

  it("warns the process where nobody listens to the toolkit", async () => {
    const toolkit = await open();
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    toolkit.getTools({ tools: ["drive_lst_files"] });
    expect(await warned).toMatchObject({
      name: "SvcWarning",
      message: expect.stringContaining('the tool "drive_lst_files"'),
    });
  });

  it("reports nothing of a tool that was left out of the list but loaded since", async () => {
    const events: SessionEvent[] = [];
    const client = closeLater(new SvcClient({ baseUrl: service.url, apiKey: service.apiKey }));
    const list = client.listTools.bind(client);
    client.listTools = async (...query) => {
      const answer = await list(...query);
      return { ...answer, tools: answer.tools.filter(({ integration }) => integration !== "drive") };
    };
    const onEvent = (event: SessionEvent) => void events.push(event);
    const toolkit = closeLater(await SvcToolkit.create({ client, onEvent }));
    expect(toolkit.session.catalog.peek("drive_list_files")).toBeUndefined();
    await toolkit.loadTools(["drive_list_files"]);
    expect(toolkit.getTools({ tools: ["drive_list_files"], staticTools: false })).toHaveLength(1);
    expect(events.filter(({ type }) => type === "tools_not_found")).toEqual([]);
  });
});
