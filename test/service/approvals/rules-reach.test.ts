import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { decideHeld, decideTogether } from "./owner.ts";
import { createQueueApp, type QueueApp } from "./queue-app.ts";

let app: QueueApp;
let service: TestService;
let browser: Browser;

beforeEach(async () => {
  app = createQueueApp();
  service = await startTestService({ integrations: [app.integration], approvals: "owner", heartbeatMs: 50 });
  await service.service.connections.add({ integration: "queue", label: "A", settings: {} });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(async () => {
  app.release();
  await service.close();
});

const send = (title: string) => execute(service, "queue_step", { arguments: { title } });
const ask = async (title: string): Promise<string> => (await send(title)).json.error.approval.id;
const read = async (id: string) => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;
const page = async (path: string) => (await browser.open(`${service.url}${path}`)).text;
const titles = () => app.began.map(({ title }) => title);

test("a block ends what waits, also when another process makes it, and says which rule", async () => {
  const [first, second] = [await ask("1"), await ask("2")];
  const rules = await openRules(service);
  const rule = await rules.add({ effect: "block", tool: "queue/*" }, "Ana");
  await rules.close();
  for (const id of [first, second]) {
    await expect.poll(async () => (await read(id)).approval.status).toBe("declined");
    expect((await read(id)).approval.reason).toContain(`block queue/* (${rule.id})`);
  }
  expect(await page(`/inbox/${first}`)).toContain(rule.id);
  expect(await page("/log")).toContain("Not run");
  expect((await send("1")).json.error.code).toBe("blocked_by_rule");
  expect(titles()).toEqual([]);
});

test("a rule that is made on its page counts before the page comes back", async () => {
  const id = await ask("1");
  const csrf = readCsrf(await browser.open(`${service.url}/rules`));
  const fields = { csrf, effect: "block", tool: "queue_step" };
  const answer = await browser.submit(`${service.url}/rules`, fields);
  expect((await read(id)).approval.status).toBe("declined");
  expect(await page(String(answer.headers.location))).toContain("those that it blocks were declined");
});

test("the same call again meets the rules first: it runs once, as the one that waited, and the log names the rule", async () => {
  const id = await ask("1");
  const rules = await openRules(service);
  const rule = await rules.add({ effect: "allow", tool: "queue_step" }, "Ana");
  await rules.close();
  const again = await send("1");
  expect(again.status).toBe(200);
  await expect.poll(async () => (await read(id)).approval.status).toBe("done");
  expect((await read(id)).result).toMatchObject({ ok: true, result: { title: "1" } });
  expect(titles()).toEqual(["1"]);
  // Nothing is left that a late yes could run once more.
  await decideTogether(browser, service.url, [id]);
  expect(titles()).toEqual(["1"]);
  const executionId = again.json.canonical.execution_id;
  const stored = await call(`${service.url}/api/executions/${executionId}`, { key: service.apiKey });
  const allowedBy = JSON.parse(String(stored.headers["x-svc-allowed-by"]));
  expect(allowedBy).toEqual({ by: "rule", rule: "allow queue_step", rule_id: rule.id });
  const log = await page(`/log/${executionId}`);
  expect(log).toContain(`The rule <code>allow queue_step</code>, <code>${rule.id}</code>`);
  expect(await page("/log")).toContain("allowed by a rule");
});

test("the same call again is the one that was approved, also after a rule allows it", async () => {
  app.hold();
  const id = await ask("1");
  await decideHeld(service, id, "approve");
  await expect.poll(() => titles()).toEqual(["1"]);
  const rules = await openRules(service);
  await rules.add({ effect: "allow", tool: "queue_step" }, "Ana");
  await rules.close();
  expect((await send("1")).json.error.approval).toMatchObject({ id, status: "running" });
  app.release();
  await expect.poll(async () => (await read(id)).approval.status).toBe("done");
  expect(titles()).toEqual(["1"]);
});

test("after “always”, what waits of the tool is offered, seen whole, and approved with one yes", async () => {
  const ids = [await ask("1"), await ask("2"), await ask("3")];
  const { answer } = await decideHeld(service, ids[0] ?? "", "always");
  const allowed = await page(String(answer.headers.location));
  expect(allowed).toContain("2 more of this tool on this account wait already");
  const link = /href="(\/inbox\/together\?[^"]+)"/.exec(allowed)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const together = await browser.open(`${service.url}${link}`);
  const chosen = [...together.text.matchAll(/name="call" value="([^"]+)"/g)].map(([, one]) => ["call", one ?? ""]);
  expect(chosen).toHaveLength(2);
  const fields = [["csrf", readCsrf(together)], ["decision", "approve"], ...chosen.toReversed()] as [string, string][];
  const told = await browser.submit(`${service.url}/inbox/approve`, fields);
  expect(told.headers.location).toContain("approved=2&left=0");
  await expect.poll(() => titles()).toEqual(["1", "2", "3"]);
});

test("all of one agent and tool are seen and declined at once, with one reason, and only those that were shown", async () => {
  const ids = [await ask("1"), await ask("2"), await ask("3")];
  const other = await service.createKey("Other");
  const sent = { arguments: { title: "4" } };
  const foreign = (await execute({ url: service.url, apiKey: other }, "queue_step", sent)).json.error.approval.id;
  const list = await page("/inbox");
  expect(list).toContain("See all 3 of “Step”");
  const link = /href="(\/inbox\/together\?[^"]+)"/.exec(list)?.[1]?.replaceAll("&amp;", "&") ?? "";
  const together = await browser.open(`${service.url}${link}`);
  const order = [...together.text.matchAll(/<dd class="value"><span class="text">&quot;(\d)&quot;</g)].map(
    ([, title]) => title,
  );
  expect(order).toEqual(["1", "2", "3"]);
  const late = await ask("5");
  const chosen = [...together.text.matchAll(/name="call" value="([^"]+)"/g)].map(([, one]) => ["call", one ?? ""]);
  const fields = [["csrf", readCsrf(together)], ["decision", "decline"], ["reason", "Not today."], ...chosen];
  const told = await browser.submit(`${service.url}/inbox/approve`, fields as [string, string][]);
  expect(told.headers.location).toBe("/inbox?declined=3&left=0");
  expect(await page(String(told.headers.location))).toContain("Declined: 3. Nothing of them was run.");
  for (const id of ids) expect((await read(id)).approval).toMatchObject({ status: "declined", reason: "Not today." });
  expect((await read(late)).approval.status).toBe("pending");
  expect(await page(`/inbox/${foreign}`)).toContain("Waits for you");
  // A stranger's form without the mark of this browser decides nothing.
  const noMark = await browser.submit(`${service.url}/inbox/approve`, [
    ["csrf", "other"],
    ["decision", "decline"],
  ]);
  expect(noMark.status).toBe(403);
});
