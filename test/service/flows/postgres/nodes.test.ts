import { readdir, readFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { call } from "../../http-calls.ts";
import { type Cluster, startCluster } from "../../postgres/cluster.ts";
import { deliverMail } from "../mailbox.ts";

const FLOWS = 40;
const MESSAGES = 2;

let postgres: TestPostgres;
let cluster: Cluster;
let folder: string;
beforeAll(async () => {
  postgres = await startPostgres();
  cluster = await startCluster(3, { database: await postgres.createDatabase() });
  folder = join(dirname(cluster.nodes[0]?.dataDir ?? ""), "shared");
}, 120_000);
afterAll(async () => {
  await cluster?.close();
  await postgres?.stop();
});

function send(at: string, path: string, body: unknown = {}) {
  const headers = { "content-type": "application/json" };
  return call(`${at}${path}`, { method: "POST", key: cluster.apiKey, headers, body: JSON.stringify(body) });
}

function readFlows() {
  return cluster.store
    .selectFrom("flows")
    .leftJoin("flow_steps", (join) =>
      join.onRef("flow_steps.flow_id", "=", "flows.id").on("flow_steps.status", "=", "failed"),
    )
    .select(["flows.id", "flows.status", "flows.runner", "flow_steps.error"])
    .execute();
}

async function readPages(): Promise<string[]> {
  const tasks = join(folder, "notes", "Tasks");
  const names = await readdir(tasks).catch(() => []);
  const texts = names.filter((name) => name.endsWith(".md")).map((name) => readFile(join(tasks, name), "utf8"));
  return (await Promise.all(texts)).map((text) => /<!-- (\S+) -->/.exec(text)?.[1] ?? "");
}

test("three nodes, one killed for good: the others finish its flows, and nothing is done twice", async () => {
  const mail = Array.from({ length: MESSAGES }, (_, index) => ({
    from: "a@example.org",
    subject: `Mail ${index}`,
    text: "",
  }));
  await deliverMail(folder, mail);
  const [first, second, victim] = cluster.nodes;
  if (first === undefined || second === undefined || victim === undefined)
    throw new Error("There are not three nodes.");
  const started = await Promise.all(
    Array.from({ length: FLOWS }, (_, index) => {
      const input = { notionParent: "Tasks", maxResults: MESSAGES };
      const at = cluster.nodes[index % 3]?.url ?? "";
      return send(at, "/api/flows/start", { flowTemplate: "mail_to_notes_tasks", input });
    }),
  );
  const ids = started.map(({ json }) => String(json.flowId));
  const readStatuses = async () => new Set((await readFlows()).map(({ status }) => status));
  await expect.poll(readStatuses, { timeout: 30_000 }).toEqual(new Set(["waiting"]));

  const approvals = ids.map((id) => send(victim.url, `/api/flows/${id}/approve`).catch(() => undefined));
  await expect.poll(async () => (await readPages()).length, { interval: 5, timeout: 30_000 }).toBeGreaterThan(0);
  await victim.kill();
  const running = (await readFlows()).filter(({ status }) => status === "running");
  await Promise.all(approvals);

  // Approvals that died with the node are given again; what it began goes on by itself, to the end or to a human's decision.
  const isOver = async () => {
    for (const { id, status, error } of await readFlows()) {
      if (status === "waiting") await send(first.url, `/api/flows/${id}/approve`);
      if (status !== "failed") continue;
      expect(JSON.parse(error ?? "{}").code).toBe("outcome_unknown");
      await send(second.url, `/api/flows/${id}/resume`);
    }
    return (await readFlows()).every(({ status }) => status === "completed");
  };
  await expect.poll(isOver, { interval: 200, timeout: 60_000 }).toBe(true);
  const runners = new Map((await readFlows()).map(({ id, runner }) => [id, runner]));
  const alive = (await cluster.store.selectFrom("nodes").select("id").execute()).map(({ id }) => id);
  const cut = running.filter(({ runner }) => !alive.includes(runner ?? ""));
  expect(cut.length).toBeGreaterThan(0);
  for (const { id, runner } of cut) expect(runners.get(id)).not.toBe(runner);
  const wanted = ids.flatMap((id) => mail.map((_, index) => `${id}-00${index + 1}`));
  expect((await readPages()).sort()).toEqual(wanted.sort());
}, 180_000);
