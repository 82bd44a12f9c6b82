import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type OpenService, openService } from "../../../../src/service/open-service.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { openBrowser } from "../../http/pages/browser.ts";
import { call, execute } from "../../http-calls.ts";
import { decideTogether } from "../owner.ts";
import { createQueueApp, type QueueApp } from "../queue-app.ts";

const NODES = 2;
const ROUNDS = 4;
const CALLS = 12;

let postgres: TestPostgres;
let folder: string;
let services: OpenService[];
let app: QueueApp;

beforeAll(async () => {
  postgres = await startPostgres();
});
afterAll(() => postgres.stop());
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-queues-"));
  services = [];
  app = createQueueApp();
});
afterEach(async () => {
  for (const service of services) await service.close();
  await rm(folder, { recursive: true, force: true });
});

test("several nodes run the approved calls of an account one after another, as asked, and each once", async () => {
  const database = await postgres.createDatabase();
  for (let index = 0; index < NODES; index += 1) {
    services.push(
      await openService({
        ...{ database, port: 0, dataDir: join(folder, String(index)), files: join(folder, "files"), heartbeatMs: 20 },
        secretKey: "one text of 32 letters for all nodes",
        integrations: [app.integration],
        approvals: "owner",
      }),
    );
  }
  const [first, second] = services as [OpenService, OpenService];
  for (const label of ["A", "B"]) await first.connections.add({ integration: "queue", label, settings: {} });
  const accounts = await first.connections.list("queue");
  const { apiKey } = await first.keys.issue({ accountId: first.accountId, label: "Test", client: null });
  const browsers = await Promise.all(
    services.map(async (service) => {
      const browser = openBrowser();
      await browser.open(await service.signInUrl());
      return { browser, url: service.url };
    }),
  );
  for (let round = 0; round < ROUNDS; round += 1) {
    app.began.length = 0;
    const asked: { id: string; title: string; account: string }[] = [];
    const bad = 5 + round;
    for (let at = 0; at < CALLS; at += 1) {
      const account = accounts[at % accounts.length];
      const title = `${at === bad ? "fail" : "ok"} ${round} ${at}`;
      const sent = { arguments: { title }, connectionId: account?.id };
      const { url } = services[at % NODES] as OpenService;
      const { id } = (await execute({ url, apiKey }, "queue_step", sent)).json.error.approval;
      asked.push({ id, title, account: account?.label ?? "" });
    }
    // Each node has a person who decides about its half at the same time.
    app.hold();
    const halves = browsers.map((_, index) => asked.filter((_one, at) => Math.floor(at / 2) % NODES === index));
    await Promise.all(
      browsers.map(({ browser, url }, index) =>
        decideTogether(browser, url, (halves[index] ?? []).map(({ id }) => id).toReversed()),
      ),
    );
    app.release();
    const read = async ({ id }: { id: string }) =>
      (await call(`${second.url}/api/approvals/${id}`, { key: apiKey })).json.approval.status as string;
    const isOver = async () => (await Promise.all(asked.map(read))).every((one) => one === "done" || one === "pending");
    await expect.poll(isOver, { timeout: 30_000 }).toBe(true);
    const statuses = await Promise.all(asked.map(read));
    for (const { label } of accounts) {
      const ran = app.began.filter((one) => one.account === label).map(({ title }) => title);
      expect(new Set(ran).size).toBe(ran.length);
      const own = asked.filter(({ account }) => account === label);
      const failed = own.findIndex(({ title }) => title.startsWith("fail"));
      const isDone = ({ id }: { id: string }) => statuses[asked.findIndex((one) => one.id === id)] === "done";
      expect(ran.toSorted()).toEqual(
        own
          .filter(isDone)
          .map(({ title }) => title)
          .toSorted(),
      );
      // What was approved before another node had done so may have begun before it; nothing overtakes in the queue.
      if (failed >= 0) expect(own.slice(0, failed + 1).every(isDone)).toBe(true);
    }
    expect(app.most.account).toBe(1);
    await Promise.all(
      browsers.map(({ browser, url }) =>
        decideTogether(
          browser,
          url,
          asked.filter((_, at) => statuses[at] === "pending").map(({ id }) => id),
          { decision: "decline" },
        ),
      ),
    );
  }
  // One person, one decision: the order of asking, whichever node runs it.
  app.began.length = 0;
  const ids: string[] = [];
  for (let at = 0; at < CALLS; at += 1) {
    const sent = { arguments: { title: `last ${at}` }, connectionId: accounts[0]?.id };
    const { url } = services[at % NODES] as OpenService;
    ids.push((await execute({ url, apiKey }, "queue_step", sent)).json.error.approval.id);
  }
  const [one] = browsers;
  if (one !== undefined) await decideTogether(one.browser, one.url, ids.toReversed());
  await expect.poll(() => app.began.length, { timeout: 30_000 }).toBe(CALLS);
  expect(app.began.map(({ title }) => title)).toEqual(ids.map((_, at) => `last ${at}`));
}, 240_000);
