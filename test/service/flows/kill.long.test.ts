import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as nextRound } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openStore } from "../../../src/service/store/open-store.ts";
import { killChild, type ServedChild, serveChild } from "../served-child.ts";
import { send } from "./flow-calls.ts";
import { deliverMail } from "./mailbox.ts";

const CHILD = fileURLToPath(new URL("./serve-child.ts", import.meta.url));
const FLOWS = 200;
const MESSAGES = 2;
/** Spread over the flows, so that there are as many on a fast machine as on a slow one. */
const KILLS = 8;
/** Flows started in one go, before others are approved. */
const STARTS = 10;
/** Between two looks at the flows. */
const POLL_MS = 10;

let dataDir: string;
let server: Promise<ServedChild>;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), "svc-kill-"));
});
afterEach(async () => {
  await killChild(await server);
  await rm(dataDir, { recursive: true, force: true });
});

const serve = () => serveChild(CHILD, dataDir);

/** One request; undefined when the service died before it answered. */
async function trySending(path: string, body: unknown) {
  return send(await server, path, body).catch(() => undefined);
}

type Flow = { readonly id: string; readonly status: string; readonly error: string | null };

async function readFlows(): Promise<Flow[]> {
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
async function press(flows: readonly Flow[], known: Set<string>): Promise<void> {
  const moves: (() => Promise<unknown>)[] = flows.flatMap(({ id, status, error }) => {
    if (status === "waiting") return () => trySending(`/api/flows/${id}/approve`, {});
    if (status !== "failed") return [];
    expect(JSON.parse(error ?? "{}").code).toBe("outcome_unknown");
    return () => trySending(`/api/flows/${id}/resume`, {});
  });
  for (let missing = Math.min(FLOWS - flows.length, STARTS); missing > 0; missing--) {
    moves.push(async () => {
      const input = { notionParent: "Tasks", maxResults: MESSAGES };
      const reply = await trySending("/api/flows/start", { flowTemplate: "mail_to_notes_tasks", input });
      if (reply?.status === 200) known.add(reply.json.flowId);
    });
  }
  const next = moves.values();
  const work = async () => {
    for (const move of next) await move();
  };
  await Promise.all([1, 2, 3, 4, 5].map(work));
}

/** Kills the service at a point of chance and starts it again. */
async function killSoon(): Promise<void> {
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 500));
  const victim = await server;
  server = killChild(victim).then(serve);
  await server;
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
  let completed = 0;
  let kills = 0;
  let killing: Promise<void> | undefined;
  while (completed < FLOWS) {
    if (killing === undefined && kills < KILLS && completed >= (FLOWS * (kills + 1)) / (KILLS + 1)) {
      kills++;
      killing = killSoon().finally(() => {
        killing = undefined;
      });
    }
    const flows = await readFlows();
    await press(flows, known);
    // With nothing to press a round waits for no event, and a kill could never come about.
    await nextRound(POLL_MS);
    completed = flows.filter(({ status }) => status === "completed").length;
  }
  await killing;
  await killChild(await server);

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
}, 300_000);
