import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createActionTools } from "../../../../src/plugin/runtimes/openclaw/actions/action-tools.ts";
import { type ActionsFile, writeActions } from "../../../../src/plugin/runtimes/openclaw/actions/actions-file.ts";
import { planSync } from "../../../../src/plugin/runtimes/openclaw/actions/plan-sync.ts";
import type { HostToolFactory } from "../../../../src/plugin/runtimes/openclaw/host/host-api.ts";
import type { HostTool, HostToolContext } from "../../../../src/plugin/runtimes/openclaw/host/host-tool.ts";
import { createGate, registerGate, registerTools } from "../../../../src/plugin/runtimes/openclaw/register-parts.ts";
import { shareHost } from "../../../../src/plugin/runtimes/openclaw/svc-host.ts";
import { STATIC_DEFINITIONS } from "../../../../src/plugin/runtimes/openclaw/translate-tool.ts";
import { createFakeApi, createStateFolder } from "./fake-api.ts";
import { createManyApp } from "./many-actions.ts";
import { openSyncKit, type SyncKit } from "./sync-kit.ts";

const app = createManyApp("app", [{ id: "look" }, { id: "change", level: "write", requiresConfirmation: true }]);
let kit: SyncKit;
let file: ActionsFile;

beforeEach(async () => {
  app.calls.length = 0;
  kit = await openSyncKit([app]);
  const { next } = await planSync(await kit.host.openAccount(undefined), undefined);
  file = next;
  await writeActions(kit.host.places.actions, next);
});
afterEach(() => kit.close());

const actions = (context: HostToolContext = {}) => createActionTools(kit.host, context);

function find(tools: readonly HostTool[], name: string): HostTool {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) throw new Error(`There is no ${name} among ${tools.map((one) => one.name)}.`);
  return tool;
}

function staticTools(context: HostToolContext = {}): HostTool[] {
  registerTools(kit.api, kit.host);
  const factory = kit.recorded.tools.at(-1)?.tool as HostToolFactory;
  return factory(context) as HostTool[];
}

describe("the static tools", () => {
  it("are all there, the three that reach every tool in the model's own list", () => {
    const tools = staticTools();
    expect(tools.map(({ name }) => name)).toEqual(STATIC_DEFINITIONS.map(({ name }) => name));
    expect(kit.recorded.tools.at(-1)?.options).toEqual({ names: tools.map(({ name }) => name) });
    const direct = tools.filter(({ catalogMode }) => catalogMode === "direct-only").map(({ name }) => name);
    expect(direct).toEqual(["svc_search_tools", "svc_describe_tool", "svc_call_tool"]);
    expect(tools.every(({ resultContentSource }) => resultContentSource === "network")).toBe(true);
  });

  it("work, also flow tools, with the outcome as text and nothing but its kind beside it", async () => {
    const tools = staticTools();
    const status = await find(tools, "svc_status").execute("c1", {});
    expect(JSON.parse(status.content[0]?.text ?? "")).toMatchObject({ status: "succeeded", tool: "svc_status" });
    expect(status.details).toEqual({ status: "ok", ok: true, outcome: "succeeded" });
    const flows = await find(tools, "svc_list_flow_templates").execute("c2", {});
    expect(flows.details).toMatchObject({ ok: true });
  });

  it("make a write once for each run whose model gives it the same id, and once within a run", async () => {
    const params = { name: "app_change", arguments: { text: "x" } };
    const requester = { channel: "webchat", senderId: "gateway-client" };
    const session = { sessionKey: "main", toolName: "svc_call_tool", requester };
    const again = { toolName: "svc_call_tool", params, toolCallId: "call_0" };
    const make = async (runId: string) => {
      const verdict = await createGate(kit.host)({ ...again, runId }, session);
      await verdict?.requireApproval?.onResolution?.("allow-once");
      return (await find(staticTools({ sessionKey: "main" }), "svc_call_tool").execute("call_0", params)).details;
    };
    for (const run of ["r1", "r2", "r2"]) expect(await make(run)).toMatchObject({ outcome: "succeeded" });
    expect(app.calls).toHaveLength(2);
  });

  it("that change something are noted with their run before they run", async () => {
    registerGate(kit.api, kit.host);
    const { options } = kit.recorded.hooks.at(-1) ?? expect.fail();
    const manifest = JSON.parse(readFileSync("plugin.manifest.json", "utf8")) as { tools: { changing: string[] } };
    expect(options?.matcher).toEqual(manifest.tools.changing);
  });

  it("say how many tools are reached by search only", async () => {
    await writeActions(kit.host.places.actions, { ...file, leftOut: 42 });
    expect(find(staticTools(), "svc_search_tools").description).toMatch(/42 tools are not in your tool list/);
  });
});

describe("the action tools", () => {
  it("are the synced ones with their schemas, and run through the pipeline", async () => {
    const tool = find(actions(), "app_look");
    expect(tool.parameters).toEqual(file.actions.find(({ name }) => name === "app_look")?.parameters);
    expect(tool.catalogMode).toBeUndefined();
    await tool.execute("c1", { text: "hi" });
    expect(app.calls).toEqual([{ action: "look", args: { text: "hi" } }]);
  });

  it("follow the file without a new registration", async () => {
    expect(actions()).toHaveLength(2);
    await writeActions(kit.host.places.actions, { ...file, actions: file.actions.slice(0, 1) });
    expect(actions()).toHaveLength(1);
    await writeActions(kit.host.places.actions, { ...file, actions: [] });
    expect(actions()).toEqual([]);
  });

  it("are not offered when they are for another address", async () => {
    await writeActions(kit.host.places.actions, { ...file, baseUrl: "https://elsewhere.test" });
    expect(actions()).toEqual([]);
  });

  it("of another account are refused by the first call and not offered any more", async () => {
    await writeActions(kit.host.places.actions, { ...file, principal: "somebody else" });
    const result = await find(actions(), "app_look").execute("c1", { text: "hi" });
    expect(result.details).toEqual({ status: "failed", ok: false, outcome: "failed", code: "other_account" });
    expect(result.content[0]?.text).toContain("openclaw svc sync");
    expect(app.calls).toEqual([]);
    expect(actions()).toEqual([]);
    expect(actions({ agentDir: "/another/agent" })).toHaveLength(2);
  });

  it("are none, with a line in the log, when the file is damaged", async () => {
    await writeActions(kit.host.places.actions, { ...file, version: 3 } as unknown as ActionsFile);
    expect(actions()).toEqual([]);
    expect(kit.recorded.lines.join()).toContain("Run openclaw svc sync");
  });
});

describe("a call", () => {
  it("that failed is shown as failed, not thrown", async () => {
    const result = await find(staticTools(), "svc_call_tool").execute("c1", { name: "app_nothing", arguments: {} });
    expect(result.details).toEqual({ status: "failed", ok: false, outcome: "failed", code: "tool_not_found" });
  });

  it("that nobody could approve is shown as blocked, and changed nothing", async () => {
    const result = await find(actions(), "app_change").execute("http-direct-operator-1", { text: "x" });
    expect(result.details).toMatchObject({ status: "blocked", ok: false, outcome: "needs_approval" });
    expect(app.calls).toEqual([]);
  });

  it("without a key says how to pair, as a result", async () => {
    const folder = createStateFolder();
    const { api } = createFakeApi();
    const host = shareHost(api, folder.environment);
    registerTools(api, host);
    await writeActions(host.places.actions, file);
    const tool = find(createActionTools(host, {}), "app_look");
    const result = await tool.execute("c1", { text: "a" });
    expect(result.details).toMatchObject({ ok: false, code: "credentials_missing" });
    expect(result.content[0]?.text).toContain("openclaw svc pair");
    folder.remove();
  });

  it("that is aborted rejects and sends nothing", async () => {
    const tool = find(actions(), "app_look");
    await expect(tool.execute("c1", { text: "a" }, AbortSignal.abort())).rejects.toMatchObject({ name: "AbortError" });
    expect(app.calls).toEqual([]);
  });

  it("tells what went wrong on this machine to the log, not to the model", async () => {
    const broken = { ...kit.host, openAccount: async () => Promise.reject(new Error("/home/me/secret is full")) };
    const result = await find(createActionTools(broken, {}), "app_look").execute("c1", { text: "a" });
    expect(result.details).toMatchObject({ ok: false, code: "internal" });
    expect(result.content[0]?.text).not.toContain("/home/me");
    expect(kit.recorded.lines.join()).toContain("/home/me/secret is full");
  });
});
