import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toSubject } from "../../../src/service/auth/grants.ts";
import { openService } from "../../../src/service/open-service.ts";
import { testDefaults } from "../../../src/service/test-kit/start-test-service.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { readCsrf } from "../http/pages/browser.ts";
import { call, post } from "../http-calls.ts";
import { openOwnerBrowser, registerClient } from "../oauth/oauth-client.ts";
import { createZoo, type Zoo } from "./zoo.ts";

let zoo: Zoo;
let service: TestService;
beforeEach(async () => {
  zoo = createZoo();
  service = await startTestService({ integrations: zoo.integrations });
  await service.service.connections.add({ integration: "mail", label: "Red account", settings: {} });
});
afterEach(() => service.close());

const READS = { limits: "yes", level: "read", apps: "all", accounts: "all", tools: "", ends: "7" };

/** `tools/call` of an MCP tool, with these headers. */
async function callTool(
  headers: Record<string, string>,
  name: string,
  args: object,
  { url }: { url: string } = service,
) {
  const params = { name, arguments: args };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params });
  const sent = { "content-type": "application/json", ...headers };
  const { status, json } = await call(`${url}/api/mcp`, { method: "POST", headers: sent, body });
  return { status, answer: json.result?.structuredContent ?? json };
}

const send = (headers: Record<string, string>, action_id: string) =>
  callTool(headers, "svc.execute", { integration_id: "mail", action_id, input: {}, confirm: true });

test("an OAuth app is limited on its approval page, and keeps its limits when it asks again", async () => {
  const client = await registerClient(service.url);
  const owner = await openOwnerBrowser(await service.service.signInUrl());
  const getToken = async (fields: Record<string, string>) => {
    const started = await client.start();
    return (await client.redeem(started, await owner.decide(started.url, "approve", fields))).access_token;
  };
  const first = { authorization: `Bearer ${await getToken({ ...READS, approvals: "device" })}` };
  expect((await callTool(first, "svc.list_actions", { integration_id: "mail" })).answer.items).toHaveLength(2);
  expect((await send(first, "getItem")).answer.status).toBe("succeeded");
  expect((await send(first, "send")).answer).toMatchObject({ status: "blocked", error_code: "action_not_found" });

  const again = { authorization: `Bearer ${await getToken({})}` };
  expect((await send(again, "send")).answer.error_code).toBe("action_not_found");
  const { url } = await client.start();
  const asked = await owner.follow(url);
  const wider = { ...READS, ends: "never", csrf: readCsrf(asked.page), decision: "approve" };
  expect((await owner.browser.submit(asked.url, wider)).status).toBe(400);
  expect(zoo.ran).toHaveLength(1);
});

test("an installed client is limited on its approval page", async () => {
  const { json: session } = await post(`${service.url}/api/installer/bootstrap-sessions`, {
    client_label: "Editor",
    scopes: { levels: ["read", "write"] },
  });
  const { browser } = await openOwnerBrowser(await service.service.signInUrl());
  const page = await browser.open(session.approval_url);
  expect(page.text).toContain("May only read, write");
  const fields = { ...READS, csrf: readCsrf(page), decision: "approve" };
  expect((await browser.submit(session.approval_url, fields)).status).toBe(303);
  const { json: polled } = await call(session.poll_url);
  expect(polled.scopes).toEqual({ levels: ["read"], expiresInDays: 7, approvals: "owner" });
  expect((await send(polled.install.headers, "getItem")).answer.status).toBe("succeeded");
  expect((await send(polled.install.headers, "send")).answer.error_code).toBe("action_not_found");
});

test("an OAuth app is refused once the time that the owner gave it is over", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "svc-end-"));
  const open = await openService({ ...(await testDefaults.forFolder?.(dataDir)), dataDir, port: 0 });
  try {
    const client = await registerClient(open.url);
    const owner = await openOwnerBrowser(await open.signInUrl());
    const started = await client.start();
    const tokens = await client.redeem(started, await owner.decide(started.url, "approve"));
    const headers = { authorization: `Bearer ${tokens.access_token}` };
    expect((await callTool(headers, "svc.whoami", {}, open)).status).toBe(200);
    const expiresAt = new Date(Date.now() - 1000).toISOString();
    await open.grants.write(toSubject(client.client.client_id), {}, { expiresAt });
    const { status, answer } = await callTool(headers, "svc.whoami", {}, open);
    expect([status, answer.error]).toEqual([401, expect.stringContaining("has expired")]);
  } finally {
    await open.close();
    await rm(dataDir, { recursive: true, force: true });
  }
});
