import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { fuzzOptions } from "../../fuzz/fuzz-options.ts";
import { type Browser, openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { decideTogether, pressOnPage } from "./owner.ts";
import { createQueueApp, type QueueApp } from "./queue-app.ts";

let app: QueueApp;
let service: TestService;
let browser: Browser;
let dataDir: string;
let accounts: ReadonlyMap<string, string>;

const start = async () => {
  service = await startTestService({ integrations: [app.integration], approvals: "owner", dataDir, heartbeatMs: 50 });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
};

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-order-"));
  app = createQueueApp();
  await start();
  for (const label of ["A", "B"]) await service.service.connections.add({ integration: "queue", label, settings: {} });
  accounts = new Map((await service.service.connections.list("queue")).map(({ label, id }) => [label, id]));
});
afterEach(async () => {
  app.release();
  await service.close();
  await rm(dataDir, { recursive: true, force: true });
});

const ask = async (title: string, account = "A"): Promise<string> => {
  const sent = { arguments: { title }, connectionId: accounts.get(account) };
  return (await execute(service, "queue_step", sent)).json.error.approval.id;
};
const askAll = async (titles: readonly string[]) => {
  const ids: string[] = [];
  for (const title of titles) ids.push(await ask(title));
  return ids;
};
const read = async (id: string) =>
  (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval;
const statusesOf = async (ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => (await read(id)).status as string));
const isOver = (statuses: readonly string[]) => statuses.every((one) => one !== "approved" && one !== "running");
const endOf = async (ids: readonly string[]) => {
  await expect.poll(async () => isOver(await statusesOf(ids)), { timeout: 10_000 }).toBe(true);
  return statusesOf(ids);
};
const approve = (ids: readonly string[]) => decideTogether(browser, service.url, ids);
const page = async (path: string) => (await browser.open(`${service.url}${path}`)).text;
const titles = (account = "A") => app.began.filter((one) => one.account === account).map(({ title }) => title);

test("five run in the order in which they were asked, one after another, whatever the order of the form", async () => {
  const ids = await askAll(["1", "2", "3", "4", "5"]);
  const [a, b, c, d, e] = ids as [string, string, string, string, string];
  const told = await approve([c, e, a, d, b]);
  expect(await endOf(ids)).toEqual(["done", "done", "done", "done", "done"]);
  expect(titles()).toEqual(["1", "2", "3", "4", "5"]);
  expect(app.most.account).toBe(1);
  expect(await page(String(told.headers.location))).toContain("Approved: 5. Done: 5.");
});

test.each([
  ["fail 2", "failed", "Failed: 1."],
  ["lost 2", "it is not known whether it took effect", "Outcome unknown: 1."],
])("what stands behind one that did not succeed waits again and says why: %s", async (second, why, told) => {
  const ids = await askAll(["1", second, "3", "4"]);
  const other = await ask("other account", "B");
  const answer = await approve([...ids, other].toReversed());
  expect(await endOf([...ids, other])).toEqual(["done", "done", "pending", "pending", "done"]);
  expect(titles()).toEqual(["1", second]);
  expect(titles("B")).toEqual(["other account"]);
  const notice = await page(String(answer.headers.location));
  expect(notice).toContain(`Approved: 5. Done: 2. ${told} Waiting again`);
  expect(notice).toMatch(/Waiting again[^<]*: 2\./);
  const [, failed, third, fourth] = ids as [string, string, string, string];
  expect((await read(third)).reason).toContain(why);
  // The yes from before is gone, also that this browser has opened it.
  expect(await page("/inbox")).not.toContain('type="checkbox"');
  const shown = await page(`/inbox/${third}`);
  expect(shown).toContain(why);
  expect(shown).toContain(`href="/inbox/${failed}">See that call`);
  await approve([third, fourth]);
  expect(await endOf(ids)).toEqual(["done", "done", "done", "done"]);
  expect(titles()).toEqual(["1", second, "3", "4"]);
});

test("calls that are approved one by one, in quick succession and in any order, run in the order of asking", async () => {
  app.hold();
  const ids = await askAll(["1", "2", "3", "fail 4", "5"]);
  const press = (id: string) => pressOnPage(browser, `${service.url}/inbox/${id}`, () => "approve");
  const [first, second, third, fourth, fifth] = ids as [string, string, string, string, string];
  await press(first);
  await expect.poll(() => titles()).toEqual(["1"]);
  for (const id of [fifth, third, fourth, second]) await press(id);
  expect(titles()).toEqual(["1"]);
  app.release();
  expect(await endOf(ids)).toEqual(["done", "done", "done", "done", "pending"]);
  expect(titles()).toEqual(["1", "2", "3", "fail 4"]);
  expect(app.most.account).toBe(1);
});

test("a call that was asked earlier and approved later runs later, and accounts do not wait for each other", async () => {
  const [early, late] = (await askAll(["early", "late"])) as [string, string];
  await approve([late]);
  await endOf([late]);
  await approve([early]);
  await endOf([early]);
  expect(titles()).toEqual(["late", "early"]);
  app.hold();
  const [a, b] = [await ask("1"), await ask("1", "B")];
  await approve([a, b]);
  await expect.poll(() => app.most.all).toBe(2);
  app.release();
  await endOf([a, b]);
  expect(app.most.account).toBe(1);
});

test("behind one that was withdrawn or has changed since it was shown, nothing of its account is approved", async () => {
  const [first, second, third] = (await askAll(["1", "2", "3"])) as [string, string, string];
  const other = await ask("other account", "B");
  await call(`${service.url}/api/approvals/${second}/cancel`, { method: "POST", key: service.apiKey });
  const told = await approve([first, second, third, other]);
  expect(String(told.headers.location)).toContain("approved=2&left=2&behind=1");
  expect(await page(String(told.headers.location))).toContain("2 not:");
  expect(await endOf([first, second, third, other])).toEqual(["done", "cancelled", "pending", "done"]);
  expect(titles()).toEqual(["1"]);
});

test("what cannot be run any more stops those behind it, too", async () => {
  app.hold();
  const [first, second] = (await askAll(["1", "2"])) as [string, string];
  const block = await ask("block");
  await approve([first, second, block]);
  await expect.poll(() => titles()).toEqual(["1"]);
  // The account is another one by the time of the second.
  await service.service.connections.update(accounts.get("A") ?? "", { settings: { other: "account" } });
  app.release();
  expect(await endOf([first, second, block])).toEqual(["done", "void", "pending"]);
  expect((await read(block)).reason).toContain("could not be run");
});

test("after a restart in the middle the rest runs in its order, and a failure stops it there, too", async () => {
  app.hold();
  const ids = await askAll(["1", "2", "fail 3", "4"]);
  await approve(ids);
  await expect.poll(() => titles()).toEqual(["1"]);
  const closed = service.close();
  app.release();
  await closed;
  expect(titles()).toEqual(["1"]);
  await start();
  await expect.poll(() => titles()).toEqual(["1", "2", "fail 3"]);
  await expect.poll(() => page(`/inbox/${ids[3]}`)).toContain("It waits again");
  expect(titles()).toEqual(["1", "2", "fail 3"]);
  expect(app.most.account).toBe(1);
});

/** A batch: on which account, how each ends, and in which order the form names them. */
const batch = fc
  .array(fc.record({ account: fc.constantFrom("A", "B"), end: fc.constantFrom("ok", "ok", "ok", "fail", "lost") }), {
    minLength: 1,
    maxLength: 6,
  })
  .chain((calls) => fc.record({ calls: fc.constant(calls), order: fc.shuffledSubarray(calls.map((_, at) => at)) }));

test("any batch: order kept on each account, nothing after a failure, and every call where its status says", async () => {
  let round = 0;
  await fc.assert(
    fc.asyncProperty(batch, async ({ calls, order }) => {
      app.began.length = 0;
      round += 1;
      const ids: string[] = [];
      for (const [at, { account, end }] of calls.entries()) ids.push(await ask(`${end} ${round} ${at}`, account));
      await approve(order.map((at) => ids[at] ?? ""));
      const statuses = await endOf(ids);
      for (const label of ["A", "B"]) {
        const own = calls.flatMap(({ account, end }, at) =>
          account === label && order.includes(at) ? [{ end, at }] : [],
        );
        const bad = own.findIndex(({ end }) => end !== "ok");
        const expected = bad < 0 ? own : own.slice(0, bad + 1);
        expect(titles(label)).toEqual(expected.map(({ end, at }) => `${end} ${round} ${at}`));
        for (const { at } of own) expect(statuses[at]).toBe(expected.some((one) => one.at === at) ? "done" : "pending");
      }
      expect(app.most.account).toBeLessThanOrEqual(1);
      // The next batch begins with an empty inbox.
      const rest = ids.filter((_, at) => statuses[at] === "pending");
      await decideTogether(browser, service.url, rest, { decision: "decline", reason: "Next." });
    }),
    fuzzOptions({ runs: 15 }),
  );
}, 120_000);
