import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startOwnPostgres } from "../../suites/start-postgres.ts";
import { call, type Reply } from "../http-calls.ts";
import { type Cluster, startCluster } from "./cluster.ts";

let postgres: Awaited<ReturnType<typeof startOwnPostgres>>;
let cluster: Cluster;

beforeAll(async () => {
  postgres = await startOwnPostgres();
  cluster = await startCluster(3, { database: await postgres.createDatabase() });
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await postgres?.stop();
});

const statusOf = (path: string) => call(`${cluster.url}${path}`, { key: cluster.apiKey }).then(({ status }) => status);

/** Repeats a request with its key until it succeeded, as a caller who wants it done does. */
async function insist(text: string, tally: Map<number, number>): Promise<void> {
  for (;;) {
    const { status } = await attempt(text, text);
    tally.set(status, (tally.get(status) ?? 0) + 1);
    if (status === 200) return;
    await sleep(50);
  }
}

/** Writes of those who insist before, between and after the outages. */
const ENOUGH = 10;

/** 0 stands for no answer. */
function attempt(text: string, key?: string): Promise<Pick<Reply, "status">> {
  return cluster.run("write", text, key === undefined ? {} : { key }).catch(() => ({ status: 0 }));
}

test("the database stops twice while all nodes write: they answer 503, recover, and nothing is lost or doubled", async () => {
  const tally = new Map<number, number>();
  const insisted: string[] = [];
  const once = new Map<string, number>();
  let isOver = false;
  const loop = async (work: (text: string) => Promise<void>) => {
    while (!isOver) await work(randomUUID());
  };
  const writers = [
    ...Array.from({ length: 4 }, () =>
      loop(async (text) => {
        insisted.push(text);
        await insist(text, tally);
      }),
    ),
    ...Array.from({ length: 2 }, () =>
      loop(async (text) => {
        once.set(text, (await attempt(text)).status);
        await sleep(10);
      }),
    ),
  ];

  for (const how of ["stop", "crash"] as const) {
    const before = insisted.length;
    await expect.poll(() => insisted.length, { timeout: 30_000 }).toBeGreaterThan(before + ENOUGH);
    await postgres.pause(how);
    await expect.poll(() => statusOf("/api/tools"), { timeout: 30_000 }).toBe(503);
    await expect.poll(() => statusOf("/health"), { timeout: 30_000 }).toBe(503);
    const refused = await call(`${cluster.url}/api/tools`, { key: cluster.apiKey });
    expect([Object.keys(refused.json), refused.headers["retry-after"]]).toEqual([["error"], "2"]);
    await postgres.resume();
    for (const { url } of cluster.nodes) {
      await expect.poll(async () => (await call(`${url}/health`)).status, { timeout: 30_000 }).toBe(200);
    }
  }
  const before = insisted.length;
  await expect.poll(() => insisted.length, { timeout: 30_000 }).toBeGreaterThan(before + ENOUGH);
  isOver = true;
  await Promise.all(writers);

  console.log(
    `Answers to writes that insist: ${JSON.stringify(Object.fromEntries(tally))}, ${insisted.length} insisted`,
  );
  const lines = new Map<string, number>();
  for (const line of await cluster.readLedger()) lines.set(line, (lines.get(line) ?? 0) + 1);
  for (const text of insisted) expect([text, lines.get(text)]).toEqual([text, 1]);
  for (const [text, status] of once) {
    if (status === 200) expect([text, lines.get(text)]).toEqual([text, 1]);
    else expect(lines.get(text) ?? 0, `${text} was answered ${status}`).toBeLessThanOrEqual(1);
  }
  expect(insisted.length).toBeGreaterThan(3 * ENOUGH);
  expect([...tally].filter(([status]) => status !== 200)).not.toEqual([]);

  const rows = () => cluster.store.selectFrom("executions").select(["status", "arguments"]).execute();
  await expect
    .poll(async () => (await rows()).filter(({ status }) => status === "started"), { timeout: 30_000 })
    .toEqual([]);
  const succeeded = (await rows())
    .filter(({ status }) => status === "succeeded")
    .map((row) => JSON.parse(row.arguments).text);
  expect(succeeded.sort()).toEqual([...lines.keys()].sort());
  expect(await cluster.store.selectFrom("nodes").select("id").execute()).toHaveLength(3);
}, 180_000);
