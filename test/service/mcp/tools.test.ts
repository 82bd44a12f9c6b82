import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createDriveIntegration } from "../../../src/apps/drive/drive-integration.ts";
import {
  actionDetailSchema,
  actionItemSchema,
  actionListSchema,
  catalogSearchSchema,
  integrationItemSchema,
  integrationPageSchema,
} from "../../../src/shared/wire/catalog.ts";
import { executionSummarySchema } from "../../../src/shared/wire/execution.ts";
import { MCP_TOOL_NAMES } from "../../../src/shared/wire/mcp.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { verifies } from "../../contract/verifies.ts";
import { decideHeld } from "../approvals/owner.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { callTool, sendLegacy } from "./mcp-calls.ts";

let lab: Lab;
let service: TestService;
beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration, createDriveIntegration()] });
});
afterEach(() => service.close());

const connectLab = () => service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });

interface ListedTool {
  name: string;
  description: string;
  inputSchema: object;
  annotations: Record<string, unknown>;
}

async function listTools(): Promise<Map<string, ListedTool>> {
  const { json } = await sendLegacy(service, "tools/list");
  return new Map(json.result.tools.map((tool: ListedTool) => [tool.name, tool]));
}

/** What the structured content of a tool looks like when it worked, and when it did not. */
const problem = z.object({ status: z.literal("failed"), error_code: z.string(), message: z.string() });
const summary = executionSummarySchema.extend({ status: z.enum(["succeeded", "blocked", "failed"]) });
const SHAPES: Readonly<Record<string, z.ZodType>> = {
  "svc.whoami": z.object({ user_id: z.string(), connected_integrations: z.array(z.string()) }),
  "svc.search": catalogSearchSchema,
  "svc.list_integrations": integrationPageSchema.required({ page: true, page_size: true, total: true }),
  "svc.get_integration": integrationItemSchema.extend({ actions: z.array(actionItemSchema) }),
  "svc.list_actions": actionListSchema,
  "svc.get_action": actionDetailSchema.extend({ input_schema: z.object({}), requires_confirmation: z.boolean() }),
  "svc.get_connection": z.object({ integration_id: z.string(), connected: z.boolean(), state: z.string() }),
  "svc.connect_app": z.object({
    integration_id: z.string(),
    status: z.enum(["requires_user_action", "already_connected"]),
    instructions: z.array(z.string()),
  }),
  "svc.execute": summary,
  "svc.get_execution": summary,
};

describe("the list", () => {
  test("has exactly the ten tools, the eight of the document among them", async () => {
    verifies("mcp.ten-tools", "mcp.discovery-tools", "mcp.connection-tools", "mcp.execution-tools");
    verifies("decision.mcp-unnamed-tools");
    const documented =
      "search list_actions get_action list_integrations get_connection connect_app execute get_execution";
    const names = [...documented.split(" "), "whoami", "get_integration"].map((name) => `svc.${name}`);
    expect([...(await listTools()).keys()].sort()).toEqual(names.sort());
    expect([...MCP_TOOL_NAMES].sort()).toEqual(names);
  });

  test("tells of every tool what it takes, gives and does", async () => {
    for (const tool of (await listTools()).values()) {
      expect(tool.inputSchema, tool.name).toMatchObject({ type: "object", additionalProperties: false });
      expect(tool.description.length, tool.name).toBeGreaterThan(30);
      const doubts = tool.annotations.readOnlyHint === true ? [] : ["destructiveHint", "idempotentHint"];
      const hints = ["readOnlyHint", "openWorldHint", ...doubts];
      for (const hint of hints) expect(tool.annotations[hint], `${tool.name} ${hint}`).toBeTypeOf("boolean");
    }
    const tools = await listTools();
    const readOnly = [...tools.values()].filter((tool) => tool.annotations.readOnlyHint === true);
    expect(readOnly.map((tool) => tool.name)).not.toContain("svc.execute");
    expect(tools.get("svc.execute")?.annotations.destructiveHint).toBe(true);
    expect(tools.get("svc.connect_app")?.annotations.readOnlyHint).toBe(false);
  });

  test("comes in the same order every time", async () => {
    expect([...(await listTools()).keys()]).toEqual([...(await listTools()).keys()]);
  });
});

describe("calls", () => {
  test("answer in the shapes of the document, as structure and as text", async () => {
    verifies("mcp.tools-call");
    await connectLab();
    const { structuredContent: ran } = await callTool(service, "svc.execute", {
      integration_id: "lab",
      action_id: "look",
      input: { text: "hello" },
    });
    const calls: [string, object][] = [
      ["svc.whoami", {}],
      ["svc.search", { query: "store a thing" }],
      ["svc.list_integrations", {}],
      ["svc.get_integration", { integration_id: "lab" }],
      ["svc.list_actions", { integration_id: "lab", intent: "store" }],
      ["svc.get_action", { integration_id: "lab", action_id: "put" }],
      ["svc.get_connection", { integration_id: "lab" }],
      ["svc.get_connection", { integration_id: "drive" }],
      ["svc.connect_app", { integration_id: "lab" }],
      ["svc.connect_app", { integration_id: "lab", force_reconnect: true }],
      ["svc.execute", { integration_id: "lab", action_id: "put", input: { title: "x" } }],
      ["svc.execute", { integration_id: "lab", action_id: "fail", input: { how: "down" } }],
      ["svc.get_execution", { execution_id: ran.execution_id }],
      ["svc.get_execution", { execution_id: "exe_nothing" }],
      ["svc.get_action", { integration_id: "lab", action_id: "nothing" }],
      ["svc.search", { query: "x", unknown: 1 }],
    ];
    for (const [name, args] of calls) {
      const { structuredContent, content } = await callTool(service, name, args);
      expect(JSON.parse(content[0].text), name).toEqual(structuredContent);
      const shape = structuredContent.error_code === undefined ? SHAPES[name] : z.union([problem, summary]);
      expect(shape?.safeParse(structuredContent).error, `${name} ${JSON.stringify(args)}`).toBeUndefined();
    }
  });

  test("also go by names with underscores", async () => {
    verifies("decision.mcp-aliases");
    const { structuredContent } = await callTool(service, "svc_list_actions", { integration_id: "lab" });
    expect(structuredContent.items.map((item: { action_id: string }) => item.action_id)).toContain("put");
  });

  test.each([
    ["a missing argument", "svc.search", {}, "query"],
    ["an argument too many", "svc.whoami", { verbose: true }, "verbose"],
    ["a wrong type", "svc.search", { query: 7 }, "query"],
    ["a number out of range", "svc.search", { query: "x", limit: 0 }, "limit"],
    [
      "files, which are not taken here",
      "svc.execute",
      { integration_id: "lab", action_id: "put", input: {}, files: [] },
      "files",
    ],
    [
      "a key with a zero byte",
      "svc.execute",
      { integration_id: "lab", action_id: "look", input: {}, idempotency_key: "a\u0000" },
      "idempotency_key",
    ],
    ["an id that is none", "svc.get_execution", { execution_id: "a\u0000" }, "execution_id"],
    ["a blank name", "svc.execute", { integration_id: " ", action_id: "look", input: {} }, "integration_id"],
    ["input that is a list", "svc.execute", { integration_id: "lab", action_id: "put", input: [] }, "input"],
  ])("with %s are results that name it", async (_what, name, args, field) => {
    const { isError, structuredContent } = await callTool(service, name, args);
    expect(isError).toBe(true);
    expect(structuredContent).toMatchObject({ status: "failed", error_code: "validation_error" });
    expect([structuredContent.message, ...(structuredContent.details ?? [])].join(" ")).toContain(field);
    expect(lab.ran).toEqual([]);
  });

  test("with a member name that is no Unicode are a result, not a fault of the service", async () => {
    const { isError, structuredContent } = await callTool(service, "svc.search", { query: "x", "\ud800": 1 });
    expect(isError).toBe(true);
    expect(structuredContent.message).toContain("member name that is not well-formed Unicode");
  });

  test("with more problems than anybody reads are a short result", async () => {
    const names = Array.from({ length: 3000 }, (_, index) => [`${index}${"n".repeat(2000)}`, 1]);
    const { isError, structuredContent } = await callTool(service, "svc.search", Object.fromEntries(names));
    expect(isError).toBe(true);
    expect(structuredContent.details).toHaveLength(100);
    expect(JSON.stringify(structuredContent).length).toBeLessThan(200_000);
  });

  test("with an unknown app or action name the nearest ones", async () => {
    const app = await callTool(service, "svc.get_integration", { integration_id: "labb" });
    expect(app).toMatchObject({ isError: true, structuredContent: { error_code: "integration_not_found" } });
    expect(app.structuredContent.hint).toContain("svc.list_integrations");
    const action = await callTool(service, "svc.get_action", { integration_id: "lab", action_id: "store a thing" });
    expect(action).toMatchObject({ isError: true, structuredContent: { error_code: "action_not_found" } });
    expect(action.structuredContent.hint).toContain("svc.list_actions");
    expect(JSON.stringify([app, action])).not.toContain("GET /api");
  });
});

describe("looking around", () => {
  test("whoami names the account, the key and the connected apps, and no secret", async () => {
    const { structuredContent, content } = await callTool(service, "svc.whoami");
    expect(structuredContent).toMatchObject({
      user_id: expect.stringMatching(/^acc_/),
      credential_id: expect.stringMatching(/^key_/),
      connected_integrations: ["drive"],
    });
    expect(content[0].text).not.toContain(service.apiKey);
  });

  test("search can leave out what is not connected", async () => {
    const search = async (args: object) =>
      (await callTool(service, "svc.search", { query: "stores a thing in the lab", ...args })).structuredContent.items;
    const put = { kind: "action", integration_id: "lab", action_id: "put", connected: false };
    expect(await search({})).toContainEqual(expect.objectContaining(put));
    const connected = await search({ connected_only: true });
    expect(connected.every((item: { integration_id: string }) => item.integration_id === "drive")).toBe(true);
    expect(await search({ limit: 1 })).toHaveLength(1);
  });

  test("integrations come in pages", async () => {
    const { structuredContent } = await callTool(service, "svc.list_integrations", { page: 2, page_size: 1 });
    expect(structuredContent).toMatchObject({ page: 2, page_size: 1, total: 2, items: [{ integration_id: "lab" }] });
  });

  test("an action comes with its whole schema", async () => {
    const { structuredContent } = await callTool(service, "svc.get_action", {
      integration_id: "lab",
      action_id: "put",
    });
    expect(structuredContent).toMatchObject({
      requires_confirmation: true,
      side_effect_level: "write",
      input_schema: lab.integration.actions[1]?.inputSchema,
      input_summary: { required: ["title"], optional: ["file"] },
    });
  });
});

describe("executing", () => {
  const put = { integration_id: "lab", action_id: "put", input: { title: "x" } };
  const execute = (args: object) => callTool(service, "svc.execute", args);

  test("a read needs no confirmation", async () => {
    await connectLab();
    const { isError, structuredContent } = await execute({ ...put, action_id: "look", input: { text: "hello" } });
    expect(isError).toBe(false);
    expect(structuredContent).toMatchObject({ status: "succeeded", output: { args: { text: "hello" } } });
  });

  test("a write is blocked, not an error, and runs once the owner has approved it", async () => {
    verifies("mcp.execute-confirm", "decision.mcp-blocked-is-no-error");
    await connectLab();
    const ids = new Set<string>();
    for (const confirm of [undefined, false, true]) {
      const { isError, structuredContent } = await execute({ ...put, confirm });
      expect(isError).toBe(false);
      expect(structuredContent).toMatchObject({ status: "blocked", execution_id: null, error_code: "policy_blocked" });
      expect(structuredContent.hint).toContain("svc.get_execution");
      ids.add(structuredContent.approval.id);
    }
    expect(ids.size).toBe(1);
    expect(lab.ran).toEqual([]);
    const [id = ""] = ids;
    await decideHeld(service, id, "approve");
    const { structuredContent } = await callTool(service, "svc.get_execution", { execution_id: id, wait: 30 });
    expect(structuredContent).toMatchObject({ status: "succeeded", output: { stored: "x" } });
    expect(lab.ran).toEqual(["put"]);
  });

  test("a confirmation is a boolean", async () => {
    await connectLab();
    expect((await execute({ ...put, confirm: "true" })).structuredContent.error_code).toBe("validation_error");
    expect(lab.ran).toEqual([]);
  });

  test("an app that is not connected leads to svc.connect_app, whose answer leads to the page", async () => {
    const { isError, structuredContent: blocked } = await execute(put);
    expect(isError).toBe(false);
    expect(blocked).toMatchObject({ status: "blocked", error_code: "integration_not_connected" });
    const { tool, input } = blocked.recommended_next_action;
    const { structuredContent: link } = await callTool(service, tool, input);
    expect(link).toMatchObject({
      integration_id: "lab",
      status: "requires_user_action",
      connect_url: `${service.url}/connect/lab`,
      instructions: expect.arrayContaining([expect.stringContaining(`${service.url}/connect/lab`)]),
    });
    expect(Date.parse(link.expires_at)).toBeGreaterThan(Date.now());
  });

  test("a failure is an error that can be looked up", async () => {
    verifies("decision.mcp-blocked-is-no-error");
    await connectLab();
    const { isError, structuredContent: failed } = await execute({ ...put, action_id: "fail", input: { how: "down" } });
    expect(isError).toBe(true);
    expect(failed).toMatchObject({ status: "failed", error_code: "execution_failed" });
    const { structuredContent: found } = await callTool(service, "svc.get_execution", {
      execution_id: failed.execution_id,
    });
    expect(found).toMatchObject({ status: "failed", execution_id: failed.execution_id, message: failed.message });
  });

  test("a repeated idempotency_key returns the first result, also when both come at once", async () => {
    await connectLab();
    const call = { ...put, idempotency_key: "k-1" };
    const [held, twin] = await Promise.all([execute(call), execute(call)]);
    const { id } = held.structuredContent.approval;
    expect(twin.structuredContent.approval.id).toBe(id);
    await decideHeld(service, id, "approve");
    await callTool(service, "svc.get_execution", { execution_id: id, wait: 30 });
    const answers = await Promise.all([execute(call), execute(call), execute(call)]);
    const ids = new Set(answers.map((answer) => answer.structuredContent.execution_id));
    expect(ids.size).toBe(1);
    expect(lab.ran).toEqual(["put"]);
    const other = await execute({ ...call, input: { title: "y" } });
    expect(other.structuredContent).toMatchObject({ status: "blocked", error_code: "validation_error" });
  });

  test("an execution of nobody is not found", async () => {
    const { isError, structuredContent } = await callTool(service, "svc.get_execution", { execution_id: "exe_1" });
    expect({ isError, code: structuredContent.error_code }).toEqual({ isError: true, code: "execution_not_found" });
  });
});

describe("connections", () => {
  const show = async () => (await callTool(service, "svc.get_connection", { integration_id: "lab" })).structuredContent;
  const connect = async (args = {}) =>
    (await callTool(service, "svc.connect_app", { integration_id: "lab", ...args })).structuredContent;

  test("are shown in every state", async () => {
    expect(await show()).toMatchObject({ connected: false, state: "not_connected", can_execute: false });
    const { id } = await connectLab();
    expect(await show()).toEqual({
      integration_id: "lab",
      connected: true,
      state: "healthy",
      connection_id: id,
      account_label: "My lab",
      can_execute: true,
      needs_reauth: false,
    });
    await service.service.connections.update(id, { state: "reauth_required" });
    expect(await show()).toMatchObject({ connected: true, can_execute: false, needs_reauth: true });
    await connectLab();
    expect(await show()).toMatchObject({ connected: true, state: "no_default", account_label: null });
  });

  test("lead to the page that fits", async () => {
    const { id } = await connectLab();
    expect(await connect()).toMatchObject({ status: "already_connected" });
    const reconnect = `${service.url}/connections/${id}/reconnect`;
    expect(await connect({ force_reconnect: true })).toMatchObject({ connect_url: reconnect });
    await service.service.connections.update(id, { state: "reauth_required" });
    expect(await connect()).toMatchObject({ status: "requires_user_action", connect_url: reconnect });
  });
});
