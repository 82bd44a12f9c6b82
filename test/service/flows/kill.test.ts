import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../../../src/service/store/open-store.ts";
import { call } from "../http-calls.ts";
import { deliverMail } from "./mailbox.ts";

const CHILD = fileURLToPath(new URL("./serve-child.ts", import.meta.url));
const FLOWS = 200;
const MESSAGES = 2;
const KILLS = 8;
/** Flows started in one go, before others are approved. */
const STARTS = 10;
/** Afterwards the flows are left in peace, so that the test ends also on a slow machine. */
const KILLING_MS = 40_000;

interface Server {
  readonly process: ChildProcess;
  readonly url: string;
  readonly apiKey: string;
}

let dataDir: string;
let server: Promise<Server>;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-kill-"));
});
afterEach(async () => {
  await kill(await server);
  await rm(dataDir, { recursive: true, force: true });
});

async function serve(): Promise<Server> {
  const child = spawn(process.execPath, [CHILD, dataDir], { stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface({ input: child.stdout })) return { process: child, ...JSON.parse(line) };
  throw new Error("The child ended before it was ready.");
}

async function kill({ process: child }: Server): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
}

/** One request; undefined when the service died before it answered. */
async function send(path: string, body: unknown) {
  const { url, apiKey } = await server;
  const headers = { "content-type": "application/json" };
  const sent = call(`${url}${path}`, { method: "POST", key: apiKey, headers, body: JSON.stringify(body) });
  return sent.catch(() => undefined);
}

async function readFlows(): Promise<{ id: string; status: string; error: string | null }[]> {
  const store = await openStore(join(dataDir, "svc.db"));
  try {
    return await store
      .selectFrom("flows")
      .leftJoin("flow_steps", (join) =>
        join.onRef("flow_steps.flow_id", "=", "flows.id").on("flow_steps.status", "=", "failed"),
      )
      .select(["flows.id", "flows.status", "flow_steps.error"])
      .execute();
  } finally {
    await store.destroy();
  }
}

/** What a human and a caller do: start what is missing, approve what waits, resume what failed. Five at a time. */
async function press(known: Set<string>): Promise<boolean> {
  const flows = await readFlows();
  const moves: (() => Promise<unknown>)[] = flows.flatMap(({ id, status, error }) => {
    if (status === "waiting") return () => send(`/api/flows/${id}/approve`, {});
    if (status !== "failed") return [];
    expect(JSON.parse(error ?? "{}").code).toBe("outcome_unknown");
    return () => send(`/api/flows/${id}/resume`, {});
  });
  for (let missing = Math.min(FLOWS - flows.length, STARTS); missing > 0; missing--) {
    moves.push(async () => {
      const input = { notionParent: "Tasks", maxResults: MESSAGES };
      const reply = await send("/api/flows/start", { flowTemplate: "mail_to_notes_tasks", input });
      if (reply?.status === 200) known.add(reply.json.flowId);
    });
  }
  if (moves.length === 0 && flows.every(({ status }) => status === "completed")) return true;
  const next = moves.values();
  const work = async () => {
    for (const move of next) await move();
  };
  await Promise.all([1, 2, 3, 4, 5].map(work));
  return false;
}

test("kill -9 at random points: every flow ends, no page is created twice, none is lost", async () => {
  await deliverMail(
    dataDir,
    Array.from({ length: MESSAGES }, (_, index) => ({
      from: "a@example.org",
      subject: `Mail ${index}`,
      text: "Hello",
    })),
  );
  server = serve();
  const known = new Set<string>();
  let isDone = false;
  let kills = 0;
  const killer = async () => {
    for (const until = Date.now() + KILLING_MS; !isDone && kills < KILLS && Date.now() < until; ) {
      await new Promise((resolve) => setTimeout(resolve, 200 + Math.random() * 1500));
      if (isDone) return;
      const victim = await server;
      server = kill(victim).then(serve);
      await server;
      kills++;
    }
  };
  const killing = killer();
  while (!isDone) isDone = await press(known);
  await killing;
  await kill(await server);

  const flows = await readFlows();
  expect(kills).toBeGreaterThan(3);
  expect(flows).toHaveLength(FLOWS);
  expect([...known].filter((id) => !flows.some((flow) => flow.id === id))).toEqual([]);
  const folder = join(dataDir, "notes", "Tasks");
  const files = (await readdir(folder)).filter((name) => name.endsWith(".md"));
  const texts = await Promise.all(files.map((name) => readFile(join(folder, name), "utf8")));
  const marks = texts.map((text) => /<!-- (\S+) -->/.exec(text)?.[1] ?? "");
  const wanted = flows.flatMap(({ id }) => [`${id}-001`, `${id}-002`]);
  expect(marks.sort()).toEqual(wanted.sort());
}, 180_000);
