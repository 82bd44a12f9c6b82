import { createHmac } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as nextRound } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { findAccount } from "../../../../src/service/store/open-store.ts";
import { startPostgres, type TestPostgres } from "../../../suites/start-postgres.ts";
import { openBrowser, readCsrf } from "../../http/pages/browser.ts";
import { call } from "../../http-calls.ts";
import { type Receiver, startReceiver } from "../../notify/receiver.ts";
import { type Cluster, startCluster } from "../../postgres/cluster.ts";

const STEPS = 10;
/** Schedules, and messages, files and webhooks of each step. */
const EACH = 100;
const MINUTE = 60_000;
const REMINDER = { does: "flow", template: "notes_reminder", input: { text: "x", delaySeconds: 60 }, take: {} };

let folder: string;
let postgres: TestPostgres;
let cluster: Cluster;
let receiver: Receiver;
/** Of the clocks of all nodes, in milliseconds since the epoch. */
let time = 0;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-trigger-kill-"));
  process.env.CLOCK = join(folder, "clock");
  await setTime(Date.parse("2026-03-02T09:00:00Z"));
  receiver = await startReceiver();
  postgres = await startPostgres();
  cluster = await startCluster(3, { database: await postgres.createDatabase() });
}, 120_000);
afterAll(async () => {
  delete process.env.CLOCK;
  await cluster?.close();
  await postgres?.stop();
  await receiver?.close();
  await rm(folder, { recursive: true, force: true });
});

async function setTime(ms: number): Promise<void> {
  time = ms;
  await writeFile(join(folder, "clock.new"), String(ms));
  await rename(join(folder, "clock.new"), join(folder, "clock"));
}

const shared = () => join(dirname(cluster.nodes[0]?.dataDir ?? ""), "shared");

/** Schedules of every minute, each with a flow. */
async function addSchedules(): Promise<void> {
  const account_id = (await findAccount(cluster.store)) ?? "";
  const now = time;
  const made_at = new Date(now).toISOString();
  const rows = Array.from({ length: EACH }, (_, index) => ({
    id: `trg_schedule_${index}`,
    account_id,
    name: `Schedule ${index}`,
    content: JSON.stringify({ on: { kind: "schedule", cron: "* * * * *", zone: "Europe/Berlin" }, act: REMINDER }),
    kind: "schedule",
    secrets: null,
    made_by: "Owner",
    made_at,
    paused_at: null,
    due_at: new Date(Math.ceil((now + 1) / MINUTE) * MINUTE).toISOString(),
    leased_by: null,
    cursor: "{}",
    failures: 0,
    error: null,
    note: null,
  }));
  await cluster.store.insertInto("triggers").values(rows).execute();
}

/** Makes the other triggers as their owner does. */
async function makeTriggers() {
  const browser = openBrowser();
  await browser.open(await cluster.signInUrl());
  const make = async (fields: Record<string, string>) => {
    const csrf = readCsrf(await browser.open(`${cluster.url}/triggers/new?kind=mail&does=post`));
    return browser.submit(`${cluster.url}/triggers/new`, { csrf, name: fields.kind ?? "", ...fields });
  };
  const flow = { does: "flow/notes_reminder", "in.text": "x", "in.delaySeconds": "60" };
  const file = await make({ kind: "file", ...flow });
  const mail = await make({ kind: "mail", query: "is:any", does: "post", url: `${receiver.url}/` });
  const hook = await make({ kind: "webhook", ...flow });
  const [id = ""] = /trg_\w+/.exec(hook.text) ?? [];
  const [secret = ""] = /whsec_[\w+/=]+/.exec(hook.text) ?? [];
  const idOf = (text: string) => /trg_\w+/.exec(text)?.[0] ?? "";
  return { file: idOf(String(file.headers.location)), mail: idOf(mail.text), hook: id, secret };
}

async function deliverMail(step: number): Promise<void> {
  for (const box of ["tmp", "new"]) await mkdir(join(shared(), "mail", box), { recursive: true });
  const at = time;
  for (let index = 0; index < EACH; index += 1) {
    const name = `${Math.floor(at / 1000)}.M${(at % 1000) * 1000}P${step}Q${index}.host`;
    const lines = [
      "From: a@example.org",
      "To: me@localhost",
      `Subject: Mail ${step}-${index}`,
      `Message-ID: <${step}.${index}@x>`,
    ];
    await writeFile(join(shared(), "mail", "tmp", name), `${lines.join("\r\n")}\r\n\r\nHello\r\n`);
    await rename(join(shared(), "mail", "tmp", name), join(shared(), "mail", "new", name));
  }
}

async function saveFiles(step: number): Promise<void> {
  const place = join(shared(), "drive", `step-${step}`);
  await mkdir(place, { recursive: true });
  for (let index = 0; index < EACH; index += 1) await writeFile(join(place, `${index}.txt`), "x");
}

/** Sends each webhook until it is taken, under one id, and some of them once more. */
async function sendHooks({ hook, secret }: { hook: string; secret: string }, step: number): Promise<void> {
  const key = Buffer.from(secret.replace("whsec_", ""), "base64");
  const send = async (id: string) => {
    const timestamp = String(Math.floor(time / 1000));
    const signature = createHmac("sha256", key).update(`${id}.${timestamp}.{}`).digest("base64");
    const signed = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${signature}` };
    const headers = { "content-type": "application/json", ...signed };
    const reply = await call(`${cluster.url}/api/hooks/${hook}`, { method: "POST", headers, body: "{}" }).catch(
      () => undefined,
    );
    return reply?.status === 202;
  };
  for (let index = 0; index < EACH; index += 1) {
    const id = `hook-${step}-${index}`;
    while (!(await send(id))) await nextRound(50);
    if (index % 10 === 0) await send(id);
  }
}

/** Kills a node at a point of chance and starts another in its place. */
async function killSoon(): Promise<void> {
  await nextRound(Math.random() * 1500);
  const victim = cluster.nodes[Math.floor(Math.random() * cluster.nodes.length)];
  if (victim !== undefined) await cluster.replace(victim);
}

const count = async (kind: string, status?: "done") => {
  let events = cluster.store
    .selectFrom("trigger_events")
    .innerJoin("triggers", "triggers.id", "trigger_events.trigger_id")
    .select((e) => e.fn.countAll<string>().as("count"))
    .where("triggers.kind", "=", kind);
  if (status !== undefined) events = events.where("trigger_events.status", "=", status);
  return Number((await events.executeTakeFirstOrThrow()).count);
};

test("a thousand events of each kind on three nodes that are killed: each flow once, each webhook under one id", async () => {
  const made = await makeTriggers();
  await addSchedules();
  receiver.answer = 500;
  for (let step = 1; step <= STEPS; step += 1) {
    await setTime(time + MINUTE);
    if (step === 3) receiver.answer = 200;
    const arrivals = [deliverMail(step), saveFiles(step), sendHooks(made, step)];
    await Promise.all([...arrivals, killSoon()]);
    // Runs that were not made before the next minute would be made up for by one.
    await expect.poll(() => count("schedule"), { interval: 100, timeout: 60_000 }).toBe(step * EACH);
  }
  await cluster.store.updateTable("triggers").set({ due_at: null }).where("kind", "=", "schedule").execute();

  const total = STEPS * EACH;
  const isOver = async () => {
    const done = await Promise.all(["mail", "file", "webhook", "schedule"].map((kind) => count(kind, "done")));
    return done.every((events) => events >= total);
  };
  while (!(await isOver())) {
    await setTime(time + MINUTE / 2);
    await nextRound(500);
  }

  const events = await cluster.store.selectFrom("trigger_events").selectAll().execute();
  const flows = await cluster.store.selectFrom("flows").select(["id", "api_key_id"]).execute();
  const ofKind = (kind: string) => events.filter(({ trigger_id }) => trigger_id.startsWith(kind));
  for (const kind of ["trg_schedule", made.file, made.hook]) {
    const started = flows.filter(({ api_key_id }) => api_key_id.startsWith(kind)).map(({ id }) => id);
    expect(ofKind(kind)).toHaveLength(total);
    expect(started.sort()).toEqual(
      ofKind(kind)
        .map(({ flow_id }) => flow_id)
        .sort(),
    );
    expect(new Set(started).size).toBe(total);
  }
  const mail = ofKind(made.mail);
  expect(new Set(mail.map(({ data }) => JSON.parse(data).subject)).size).toBe(total);
  const received = new Set(receiver.received.map(({ headers }) => String(headers["webhook-id"])));
  expect([...received].sort()).toEqual(mail.map(({ id }) => id).sort());
}, 300_000);
