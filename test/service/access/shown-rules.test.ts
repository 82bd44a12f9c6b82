import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { call } from "../http-calls.ts";
import { callTool } from "../mcp/mcp-calls.ts";
import { openRules } from "./open-rules.ts";
import { createZoo } from "./zoo.ts";

/** What lists, searches and descriptions say where a rule decides. */

let service: TestService;
let rules: Awaited<ReturnType<typeof openRules>>;
beforeEach(async () => {
  const { integrations } = createZoo();
  service = await startTestService({ integrations, approvals: "owner" });
  for (const { slug } of integrations) {
    await service.service.connections.add({ integration: slug, label: `My ${slug}`, settings: {} });
  }
  rules = await openRules(service);
});
afterEach(async () => {
  await rules.close();
  await service.close();
});

const get = async (path: string, key = service.apiKey) => (await call(`${service.url}${path}`, { key })).json;
const describeTool = async (name: string) => (await get(`/api/tools/${name}`)).tool;

/** Everything that one key is shown, as one text. */
async function readAll(apiKey = service.apiKey): Promise<string> {
  const paths = [
    "/api/tools",
    "/api/tools/search?query=send%20all",
    "/api/tools/mail_send",
    "/api/integrations",
    "/api/actions?integration_id=mail",
    "/api/actions/mail/Send",
    "/api/search?query=send%20all",
  ];
  const mcp = { url: service.url, apiKey };
  const found = [
    ...(await Promise.all(paths.map((path) => get(path, apiKey)))),
    await callTool(mcp, "svc.search", { query: "send all" }),
    await callTool(mcp, "svc.list_actions", { integration_id: "mail" }),
    await callTool(mcp, "svc.get_integration", { integration_id: "mail" }),
  ];
  return JSON.stringify(found);
}

const MENTIONS = /"mail_send"|"send"/;

test("a tool that is blocked for a key on every account is shown nowhere", async () => {
  expect(await readAll()).toMatch(/"mail_send"/);
  for (const account of await service.service.connections.list("mail")) {
    await rules.add({ effect: "block", tool: "mail_send", account: account.id }, "test");
  }
  await rules.add({ effect: "block", tool: "mail-list/send" }, "test");
  await rules.add({ effect: "block", tool: "maillist2/send" }, "test");
  expect(await readAll()).not.toMatch(MENTIONS);
  expect((await get("/api/tools/mail_send_all")).tool.name).toBe("mail_send_all");
  // Another account could still use it.
  await service.service.connections.add({ integration: "mail", label: "Other", settings: {} });
  expect(await readAll()).toMatch(/"mail_send"/);
});

test("an app without a tool that may be used is not listed, and another key sees it", async () => {
  const key = await rules.store.selectFrom("api_keys").select("id").executeTakeFirstOrThrow();
  await rules.add({ effect: "block", tool: "mail/*", key: key.id }, "test");
  const slugs = async (apiKey?: string) =>
    (await get("/api/integrations", apiKey)).items.map((item: { integration_id: string }) => item.integration_id);
  expect(await slugs()).toEqual(["mail-list", "maillist2"]);
  expect(await slugs(await service.createKey("Other"))).toEqual(["mail", "mail-list", "maillist2"]);
});

test("a description says whether a call needs a confirmation, and why", async () => {
  expect(await describeTool("mail_getItem")).toMatchObject({ requiresConfirmation: false, policyReason: null });
  await rules.add({ effect: "ask", tool: "mail_getItem" }, "test");
  await rules.add({ effect: "allow", tool: "mail_send*" }, "test");
  expect(await describeTool("mail_getItem")).toMatchObject({
    requiresConfirmation: true,
    policyReason: 'The owner of this service wants to be asked before "getItem".',
    canonical: { approvals: "owner", action: { requires_confirmation: true } },
  });
  expect((await get("/api/actions/mail/getitem")).requires_confirmation).toBe(true);
  expect(await describeTool("mail_send")).toMatchObject({
    requiresConfirmation: false,
    policyReason: null,
    // A program that leaves approvals to the owner asks nobody else.
    canonical: { approvals: "owner" },
  });
  expect((await get("/api/actions/mail/delete_item")).requires_confirmation).toBe(true);
});
