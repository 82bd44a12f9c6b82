import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openRules } from "../../access/open-rules.ts";
import { createZoo } from "../../access/zoo.ts";
import { decideHeld } from "../../approvals/owner.ts";
import { call, execute } from "../../http-calls.ts";
import { openBrowser, readCsrf } from "./browser.ts";

let service: TestService;
let rules: Awaited<ReturnType<typeof openRules>>;
let accounts: readonly string[];

beforeEach(async () => {
  const { integrations } = createZoo();
  service = await startTestService({ integrations, approvals: "owner" });
  for (const label of ["First", "Second"]) {
    await service.service.connections.add({ integration: "mail", label, settings: {} });
  }
  accounts = (await service.service.connections.list("mail")).map(({ id }) => id);
  rules = await openRules(service);
});
afterEach(async () => {
  await rules.close();
  await service.close();
});

const run = (tool: string, account = 0) => execute(service, tool, { arguments: {}, connectionId: accounts[account] });
const hold = async (tool: string, account = 0): Promise<string> => (await run(tool, account)).json.error.approval.id;

test("always allows this tool on this account from now on, and nothing else", async () => {
  const id = await hold("mail_send");
  const { answer } = await decideHeld(service, id, "always");
  expect(answer.headers.location).toContain("notice=allowed");
  // Until it has ended, the same call again is the one that was approved.
  const read = () => call(`${service.url}/api/approvals/${id}`, { key: service.apiKey });
  await expect.poll(async () => (await read()).json.approval.status).toBe("done");
  expect(await rules.list()).toMatchObject([
    { effect: "allow", tool: "mail_send", level: "write", account: accounts[0], madeBy: "Owner" },
  ]);
  expect((await run("mail_send")).status).toBe(200);
  expect((await run("mail_send", 1)).status).toBe(412);
});

test("a call that was changed or decided before makes no rule", async () => {
  const id = await hold("mail_send");
  await decideHeld(service, id, "always", { fingerprint: "other" });
  expect(await rules.list()).toEqual([]);
});

test("deleting and administration are always asked about", async () => {
  await service.service.connections.add({ integration: "mail-list", label: "List", settings: {} });
  for (const tool of ["mail_delete_item", "mail-list_purge"]) {
    const held = await execute(service, tool, {
      arguments: {},
      ...(tool.startsWith("mail_") && { connectionId: accounts[0] }),
    });
    const { page, answer } = await decideHeld(service, held.json.error.approval.id, "always");
    expect(page).not.toContain("always allow");
    expect(answer.status).toBe(403);
  }
  expect(await rules.list()).toEqual([]);
});

test("it is offered neither where a rule asks, nor to somebody who only approves", async () => {
  const id = await hold("mail_send");
  const rule = await rules.add({ effect: "ask", tool: "mail_*" }, "test");
  expect((await decideHeld(service, id, "always")).page).not.toContain("always allow");
  await rules.remove(rule.id);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  await rules.store.updateTable("people").set({ role: "approver" }).execute();
  const page = await browser.open(`${service.url}/inbox/${id}`);
  expect(page.text).not.toContain("always allow");
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
  const send = (decision: string) =>
    browser.submit(`${service.url}/inbox/${id}`, { csrf: readCsrf(page), fingerprint, decision });
  expect((await send("always")).status).toBe(403);
  expect(await rules.list()).toEqual([]);
  expect((await send("approve")).headers.location).toContain("notice=approved");
});
