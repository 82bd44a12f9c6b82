import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openToolbox, type ToolboxOptions } from "../../../../src/index.ts";
import type { SessionEvent } from "../../../../src/plugin/calls/session-events.ts";
import { STATIC_TOOL_NAMES } from "../../../../src/plugin/calls/static-tools.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { readJson } from "../../../package/read-package.ts";
import { closeAll, closeLater, makeFolder, sayYes } from "../../calls/open-test-session.ts";

let service: TestService;
beforeEach(async () => {
  service = closeLater(await startTestService());
});
afterEach(closeAll);

async function open(settings: Partial<ToolboxOptions> = {}) {
  return closeLater(await openToolbox({ baseUrl: service.url, apiKey: service.apiKey, ...settings } as ToolboxOptions));
}

const ALWAYS = (readJson("plugin.manifest.json") as { tools: { static: string[] } }).tools.static;
const namesOf = (tools: readonly { name: string }[]) => tools.map(({ name }) => name);

describe("openToolbox", () => {
  it("offers the actions of the named apps only, and says how many more are found by search", async () => {
    const { tools, session } = await open({ integrations: ["drive"], limit: 2 });
    const always = ALWAYS.filter((name) => STATIC_TOOL_NAMES.some((one) => one === name));
    expect(namesOf(tools).slice(2).sort()).toEqual(always.sort());
    const [first, second] = tools;
    expect([first?.name, second?.name]).toEqual(
      session.catalog
        .list()
        .slice(0, 2)
        .map(({ name }) => name),
    );
    const left = session.catalog.size - 2;
    expect(left).toBeGreaterThan(0);
    expect(tools.find(({ name }) => name === "svc_search_tools")?.description).toContain(` ${left} tools are not in`);
  });

  it("says nothing of the kind when every action is offered", async () => {
    const { tools, session } = await open();
    expect(tools).toHaveLength(session.catalog.size + ALWAYS.length);
    expect(new Set(namesOf(tools)).size).toBe(tools.length);
    expect(tools.find(({ name }) => name === "svc_search_tools")?.description).not.toContain("not in your tool list");
  });

  it("offers only the tools that are always there with a limit of 0", async () => {
    const { tools } = await open({ limit: 0 });
    expect(namesOf(tools).sort()).toEqual([...ALWAYS].sort());
  });

  it.each<[string, unknown]>([
    ["limit", Number.NaN],
    ["limit", -1],
    ["limit", 2.5],
    ["limit", "64"],
    ["integrations", "drive"],
    ["integrations", [""]],
    ["integrations", ["drive", " "]],
    ["integrations", [undefined]],
    ["integrations", null],
  ])("is not made with %s %j", async (field, value) => {
    const refused = { code: "invalid_config", field, message: expect.stringContaining(field) };
    await expect(open({ [field]: value })).rejects.toMatchObject(refused);
  });

  it("reports an app that the service does not have", async () => {
    const events: SessionEvent[] = [];
    await open({ integrations: ["drive", "drvie"], onEvent: (event) => events.push(event) });
    expect(events.at(-1)).toEqual({ type: "tools_not_found", tools: [], integrations: ["drvie"] });
    const warned = new Promise<Error>((resolve) => process.once("warning", resolve));
    await open({ integrations: ["drvie"] });
    expect(await warned).toMatchObject({ name: "SvcWarning", message: expect.stringContaining('the app "drvie"') });
  });

  it("is opened, and runs actions and flows, whatever a listener does", async () => {
    const told = new Set<string>();
    const onEvent = ({ type }: SessionEvent) => {
      told.add(type);
      throw new Error("the log is full");
    };
    const approve: ToolboxOptions["approve"] = async (request) => sayYes(request);
    const { tools } = await open({ integrations: ["notes", "ntoes"], allow: { flows: true }, onEvent, approve });
    const run = (name: string, args: unknown) => tools.find((tool) => tool.name === name)?.run(args, { callId: name });
    expect(await run("notes_create_page", { title: "A", body: "b" })).toMatchObject({ status: "succeeded" });
    const reminder = { template: "notes_reminder", input: { text: "Water the plants", delaySeconds: 1 } };
    expect(await run("svc_start_flow", reminder)).toMatchObject({ status: "succeeded", outcome: { notes: [] } });
    expect([...told]).toEqual(expect.arrayContaining(["tools_not_found", "finished", "flow_progress"]));
  });

  it("starts a second time without the service", async () => {
    const stateDir = await makeFolder();
    const { tools, close } = await open({ stateDir });
    await close();
    await service.service.close();
    expect(namesOf((await open({ stateDir })).tools)).toEqual(namesOf(tools));
  });

  it("gives the outcome as text for the model and as a value for the host", async () => {
    const { tools } = await open();
    const reply = await tools
      .find(({ name }) => name === "notes_create_page")
      ?.run({ title: "A", body: "b" }, { callId: "1" });
    expect(reply).toMatchObject({ status: "needs_approval", outcome: { approval: { tool: "notes_create_page" } } });
    expect(JSON.parse(reply?.text ?? "")).toMatchObject({ status: "needs_approval", tool: "notes_create_page" });
    expect(await service.effects()).toEqual([]);
  });

  it("asks the approver of a call instead of its own, for flows too", async () => {
    const asked: string[] = [];
    const approve: ToolboxOptions["approve"] = async ({ id, fingerprint, tool }) => {
      asked.push(tool);
      return { type: "decline", id, fingerprint };
    };
    const { tools } = await open();
    const [template] = (await (await open()).session.client.listFlowTemplates()).templates;
    const run = (name: string, args: unknown) =>
      tools.find((tool) => tool.name === name)?.run(args, { callId: name, approve });
    expect(await run("notes_create_page", { title: "A", body: "b" })).toMatchObject({ status: "declined" });
    expect(await run("svc_start_flow", { template: template?.key })).toMatchObject({ status: "declined" });
    expect(asked).toEqual(["notes_create_page", "svc_start_flow"]);
  });

  it("rejects a key that the service does not accept", async () => {
    await expect(open({ apiKey: "svc_live_wrong" })).rejects.toMatchObject({ code: "unauthorized" });
  });
});
