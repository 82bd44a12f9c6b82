import { afterEach, beforeEach, expect, test } from "vitest";
import type { KeyScopes } from "../../../src/shared/wire/key-scopes.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { decideHeld } from "../approvals/owner.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute, post } from "../http-calls.ts";
import { changeLimits, fieldsOf, without } from "./limits-page.ts";
import { createZoo, type Zoo } from "./zoo.ts";

const DAY_MS = 24 * 60 * 60_000;

let zoo: Zoo;
let service: TestService;
let browser: Browser;
let clock: number;

beforeEach(async () => {
  zoo = createZoo();
  clock = Date.parse("2026-11-25T12:00:00Z");
  service = await startTestService({ integrations: zoo.integrations, now: () => clock });
  await service.service.connections.add({ integration: "mail", label: "Red account", settings: {} });
  await service.service.connections.add({ integration: "mail-list", label: "Green account", settings: {} });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

const json = { "content-type": "application/json" };

async function start(scopes?: unknown) {
  const { json: session } = await post(`${service.url}/api/plugin/pair/start`, { deviceLabel: "Laptop", scopes });
  const readStatus = async () => (await call(`${service.url}/api/plugin/pair/sessions/${session.sessionToken}`)).json;
  const exchange = () =>
    post(`${service.url}/api/plugin/pair/sessions/${session.sessionToken}/exchange`, { verifier: session.verifier });
  const approve = async (fields: [string, string][] = []) => {
    const page = await browser.open(session.pairUrl);
    const sent: [string, string][] = [["csrf", readCsrf(page)], ["decision", "approve"], ...fields];
    return { page: page.text, answer: await browser.submit(session.pairUrl, sent) };
  };
  return { session, readStatus, exchange, approve };
}

async function listTools(apiKey: string): Promise<string[]> {
  const { json: page } = await call(`${service.url}/api/tools?limit=200`, { key: apiKey });
  return page.tools.map(({ name }: { name: string }) => name);
}

test("what was asked for is shown in plain words, and granted when the owner changes nothing", async () => {
  const asked: KeyScopes = { integrations: ["Mail_List"], levels: ["read"], expiresInDays: 30, approvals: "owner" };
  const { approve, readStatus, exchange } = await start(asked);
  expect((await readStatus()).scopes).toEqual(asked);
  const { page } = await approve();
  for (const words of [
    "May only read",
    "It asked to change nothing there.",
    "Only these apps: mail-list",
    "For 30 days",
    "You approve each call",
  ]) {
    expect(page).toContain(words);
  }
  const granted = { ...asked, integrations: ["mail-list"] };
  expect((await readStatus()).scopes).toEqual(granted);
  const { apiKey, session } = (await exchange()).json;
  expect(session.scopes).toEqual(granted);
  expect(await listTools(apiKey)).toEqual(["mail-list_get"]);
  const devices = await browser.open(`${service.url}/devices`);
  expect(devices.text).toContain("May only read · Only these apps: mail-list · You approve its calls in the inbox");
});

test("the owner narrows; more than was asked for takes a tick of its own", async () => {
  const { session, approve, readStatus, exchange } = await start({ levels: ["read", "write"], tools: ["mail/*"] });
  const page = (await browser.open(session.pairUrl)).text;
  const wider = without(without(fieldsOf(page), "csrf"), "tools");
  const refused = await approve(wider);
  expect(refused.answer.status).toBe(400);
  expect(refused.answer.text).toContain("more than was asked for");
  expect((await readStatus()).status).toBe("awaiting_approval");
  const narrower = without(without(fieldsOf(page), "csrf"), "level", "write");
  await approve(narrower.map(([name, value]) => (name === "ends" ? [name, "7"] : [name, value])));
  expect((await readStatus()).scopes).toMatchObject({ levels: ["read"], tools: ["mail/*"], expiresInDays: 7 });
  expect(await listTools((await exchange()).json.apiKey)).toEqual(["mail_getItem", "mail_list-send"]);

  const second = await start({ levels: ["read"] });
  await second.approve([...wider, ["level", "delete"], ["level", "admin"], ["wider", "yes"]]);
  expect(await listTools((await second.exchange()).json.apiKey)).toHaveLength(12);
});

test("a form that says nothing about limits grants what was asked for, and one with an empty list nothing", async () => {
  const { session, approve, readStatus } = await start();
  const page = (await browser.open(session.pairUrl)).text;
  const fields = without(without(fieldsOf(page), "csrf"), "apps");
  const refused = await approve([...fields, ["apps", "some"]]);
  expect([refused.answer.status, (await readStatus()).status]).toEqual([400, "awaiting_approval"]);
  expect((await approve([...without(fields, "tools"), ["tools", "no spaces/here/please"]])).answer.status).toBe(400);
});

test.each([
  [{ integrations: [] }, "scopes.integrations"],
  [{ levels: ["everything"] }, "scopes.levels.0"],
  [{ tools: ["a/b/c"] }, "scopes.tools.0"],
  [{ expiresInDays: 0 }, "scopes.expiresInDays"],
  [{ connections: ["con_1\u202e"] }, "scopes.connections.0"],
  [{ hours: "9-17" }, "scopes.hours"],
  [["mail"], "scopes"],
])("scopes that cannot be kept are refused: %j", async (scopes, field) => {
  const refused = await post(`${service.url}/api/plugin/pair/start`, { scopes });
  expect([refused.status, refused.json.error]).toEqual([400, expect.stringContaining(field)]);
});

test("a change on the devices page counts from the next call on", async () => {
  const { approve, exchange } = await start();
  await approve();
  const { apiKey } = (await exchange()).json;
  const send = () => execute({ ...service, apiKey }, "mail_send", { arguments: {}, confirmed: true });
  expect((await send()).status).toBe(200);
  const saved = await changeLimits(browser, service, (fields) => without(fields, "level", "write"));
  expect(saved.headers.location).toContain("notice=changed");
  const refused = await send();
  expect([refused.status, refused.json.error.code]).toEqual([404, "tool_not_found"]);
  expect(refused.text).not.toContain("mail_send_all");
  await changeLimits(browser, service, (fields) => [...fields, ["level", "write"]]);
  expect((await send()).status).toBe(200);
});

test("a key ends at its time, says so, and a change of its limits does not move its end", async () => {
  const { approve, exchange } = await start({ expiresInDays: 2 });
  await approve();
  const { apiKey } = (await exchange()).json;
  clock += DAY_MS;
  await changeLimits(browser, service, (fields) => without(fields, "level", "delete"));
  expect(await listTools(apiKey)).not.toContain("mail_delete_item");
  clock += DAY_MS;
  const refused = await call(`${service.url}/api/tools`, { key: apiKey });
  expect([refused.status, refused.json.error]).toEqual([401, expect.stringContaining("has expired")]);
  const canonical = await call(`${service.url}/api/executions`, {
    method: "POST",
    key: apiKey,
    headers: json,
    body: "{}",
  });
  expect([canonical.status, canonical.json.error_code]).toEqual([401, "unauthorized"]);
  const mcp = await call(`${service.url}/api/mcp`, { method: "POST", key: apiKey, headers: json, body: "{}" });
  expect([mcp.status, mcp.json.error]).toEqual([401, expect.stringContaining("has expired")]);
  expect((await browser.open(`${service.url}/devices`)).text).toContain("Has expired");
  await changeLimits(browser, service, (fields) => without(fields, "ends").concat([["ends", "7"]]));
  expect((await call(`${service.url}/api/tools`, { key: apiKey })).status).toBe(200);
});

test.each([
  ["its tool", (fields: [string, string][]) => without(fields, "level", "write"), "may not use this tool"],
  [
    "its app",
    (fields: [string, string][]) =>
      [...without(fields, "apps"), ["apps", "some"], ["app", "mail-list"]] as [string, string][],
    "may not use this tool",
  ],
])("a call that was approved after its key lost %s is not run", async (_what, edit, reason) => {
  const { approve, exchange } = await start({ approvals: "owner" });
  await approve();
  const { apiKey } = (await exchange()).json;
  const held = await execute({ ...service, apiKey }, "mail_send", { arguments: {}, confirmed: true });
  const { id } = held.json.error.approval;
  await changeLimits(browser, service, edit);
  await decideHeld(service, id, "approve");
  const read = () => call(`${service.url}/api/approvals/${id}`, { key: apiKey });
  await expect.poll(async () => (await read()).json.approval.status).toBe("void");
  expect((await read()).json.approval.reason).toContain(reason);
  expect(zoo.ran).toEqual([]);
});

test("a call that was approved after its key expired is not run", async () => {
  const { approve, exchange } = await start({ approvals: "owner", expiresInDays: 1 });
  await approve();
  const { apiKey } = (await exchange()).json;
  clock += DAY_MS - 60_000;
  const held = await execute({ ...service, apiKey }, "mail_send", { arguments: {} });
  clock += 120_000;
  await decideHeld(service, held.json.error.approval.id, "approve");
  await expect
    .poll(async () => (await browser.open(`${service.url}/inbox/${held.json.error.approval.id}`)).text)
    .toContain("has expired");
  expect(zoo.ran).toEqual([]);
});

test("a limited key does not learn what others did: not by id, and not by their idempotency keys", async () => {
  const body = { integration_id: "mail", action_id: "getItem", input: {}, idempotency_key: "k1" };
  const run = (key: string) =>
    call(`${service.url}/api/executions`, { method: "POST", key, headers: json, body: JSON.stringify(body) });
  const look = (key: string, path: string) => call(`${service.url}/api/executions${path}`, { key });
  const id = (await run(service.apiKey)).json.execution_id;
  const limited = await service.createKey("Limited", { integrations: ["mail"] });
  expect((await look(limited, `/${id}`)).status).toBe(404);
  expect((await look(limited, "?idempotency_key=k1")).status).toBe(404);
  expect((await run(limited)).json).toMatchObject({ status: "blocked", error_code: "validation_error" });
  body.idempotency_key = "k2";
  const own = (await run(limited)).json.execution_id;
  expect((await look(limited, `/${own}`)).json.status).toBe("succeeded");
  expect((await look(limited, "?idempotency_key=k2")).json.execution_id).toBe(own);
  expect((await run(limited)).json.execution_id).toBe(own);
  expect(zoo.ran).toHaveLength(2);
});
