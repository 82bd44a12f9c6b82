import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { decideHeld } from "../approvals/owner.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { callTool, modernMeta, postMcp } from "./mcp-calls.ts";

/** Actions as tools of the endpoint, for a client whose address asks for them. */

const BUDGET = "?maxToolTokens=100000";
let lab: Lab;
let service: TestService;
beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "My lab", settings: {} });
});
afterEach(() => service.close());

async function send(method: string, params: object = {}, where = BUDGET) {
  return (await postMcp(service, { jsonrpc: "2.0", id: 1, method, params }, {}, where)).json;
}
const run = async (name: string, args: object) => (await send("tools/call", { name, arguments: args })).result;

test("each has its own schema, and hints that say what it does", async () => {
  const { tools } = (await send("tools/list")).result;
  const put = tools.find(({ name }: { name: string }) => name === "lab_put");
  expect(put.inputSchema).toEqual(lab.integration.actions.find(({ id }) => id === "put")?.inputSchema);
  expect(put.annotations).toMatchObject({ readOnlyHint: false, destructiveHint: false });
  const look = tools.find(({ name }: { name: string }) => name === "lab_look");
  expect(look.annotations).toMatchObject({ readOnlyHint: true });
});

test("a read runs, and wrong arguments are explained", async () => {
  expect((await run("lab_look", { text: "hello" })).structuredContent).toMatchObject({ status: "succeeded" });
  const wrong = await run("lab_put", { title: 7 });
  expect(wrong.structuredContent).toMatchObject({ error_code: "validation_error" });
  expect(lab.ran).toEqual(["look"]);
});

test("a write waits for the owner, whatever its arguments say", async () => {
  const args = { title: "Minutes" };
  const held = (await run("lab_put", args)).structuredContent;
  expect(held).toMatchObject({ status: "blocked", error_code: "policy_blocked" });
  expect((await run("lab_put", { ...args, confirm: true })).structuredContent.status).not.toBe("succeeded");
  expect(lab.ran).toEqual([]);
  await decideHeld(service, held.approval.id, "approve");
  const done = await callTool(service, "svc.get_execution", { execution_id: held.approval.id, wait: 30 });
  expect(done.structuredContent).toMatchObject({ status: "succeeded", output: { stored: "Minutes" } });
});

test("without the budget there is no such tool, and a rule of the owner takes one away", async () => {
  expect((await send("tools/call", { name: "lab_put", arguments: {} }, "")).error.code).toBe(-32602);
  const names = async () => (await send("tools/list")).result.tools.map(({ name }: { name: string }) => name);
  expect(await names()).toContain("lab_put");
  const rules = await openRules(service);
  await rules.add({ effect: "block", tool: "lab_put" }, "test");
  await rules.close();
  expect(await names()).not.toContain("lab_put");
  expect((await send("tools/call", { name: "lab_put", arguments: {} })).error.code).toBe(-32602);
});

test("a client of the newest revision gets the list with how long it holds", async () => {
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list" };
  const body = { jsonrpc: "2.0", id: 1, method: "tools/list", params: { _meta: modernMeta() } };
  const { json } = await postMcp(service, body, headers, BUDGET);
  expect(json.result).toMatchObject({ resultType: "complete", cacheScope: "private", ttlMs: expect.any(Number) });
});
