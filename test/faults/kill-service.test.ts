import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Approver } from "../../src/plugin/calls/ask/request.ts";
import { createToolSession } from "../../src/plugin/calls/session.ts";
import { startTestService } from "../../src/testing.ts";
import { findFreePort } from "../service/free-port.ts";
import { choose } from "./kit/fault-form.ts";

const KILLS = choose({ short: 6, long: 60 });
const WRITERS = 4;
const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

let folder: string;
let served: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-kill-"));
  await mkdir(join(folder, "media"));
});

afterEach(async () => {
  if (served?.exitCode === null && served.signalCode === null) {
    served.kill("SIGKILL");
    await once(served, "exit");
  }
  await rm(folder, { recursive: true, force: true });
});

const approveAll: Approver = async ({ id, fingerprint }) => ({ type: "approve", id, fingerprint });

async function serve(dataDir: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, [BIN, "serve", "--port", String(port), "--data", dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  child.stdout.setEncoding("utf8").on("data", (text: string) => text.includes("Listening on") && resolve());
  child.once("exit", (code) => reject(new Error(`svc serve ended with ${code}`)));
  await promise;
  return child;
}

/** How often each marker stands in a file of the drive or a page of the notes. */
async function countMarkers(dataDir: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const app of ["drive", "notes"]) {
    const entries = await readdir(join(dataDir, app), { recursive: true, withFileTypes: true });
    for (const entry of entries) {
      if (!entry.isFile() || entry.name.startsWith(".svc-unfinished")) continue;
      const text = await readFile(join(entry.parentPath, entry.name), "latin1");
      for (const [marker] of text.matchAll(/marker-[0-9a-f-]{36}/g)) counts.set(marker, (counts.get(marker) ?? 0) + 1);
    }
  }
  return counts;
}

test("the service is killed during writes: no acknowledged write is lost, no write happens twice", async () => {
  const dataDir = join(folder, "service");
  const port = await findFreePort();
  const first = await startTestService({ dataDir, port });
  const { apiKey, url } = first;
  await first.close();
  served = await serve(dataDir, port);

  const outcomes = new Map<string, string>();
  const countSucceeded = () => [...outcomes.values()].filter((status) => status === "succeeded").length;
  let stopped = false;
  const write = async (writer: number) => {
    const session = await createToolSession({
      baseUrl: url,
      apiKey,
      mediaRoots: [join(folder, "media")],
      stateDir: join(folder, `state-${writer}`),
      approve: approveAll,
    });
    await session.catalog.load();
    for (let turn = 0; !stopped; turn += 1) {
      const marker = `marker-${randomUUID()}`;
      const isUpload = turn % 2 === 0;
      if (isUpload) await writeFile(join(folder, "media", `${marker}.txt`), `${marker}\n${"x".repeat(200_000)}`);
      const outcome = await session.call({
        callId: marker,
        toolName: isUpload ? "drive_upload_file" : "notes_create_page",
        arguments: isUpload
          ? { file: join(folder, "media", `${marker}.txt`), folder: `writer-${writer}`, if_exists: "rename" }
          : { title: `Page of writer ${writer}`, body: marker },
      });
      outcomes.set(marker, outcome.status);
      if (outcome.status !== "succeeded") await delay(20);
    }
    await session.close();
  };
  const writers = Array.from({ length: WRITERS }, (_, writer) => write(writer));
  const finished = Promise.allSettled(writers);

  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = countSucceeded();
    await expect.poll(countSucceeded, { timeout: 30_000 }).toBeGreaterThan(before);
    await delay(Math.random() * 200);
    served.kill("SIGKILL");
    await once(served, "exit");
    served = await serve(dataDir, port);
  }
  await delay(300);
  stopped = true;
  for (const result of await finished) expect(result).toMatchObject({ status: "fulfilled" });

  const counts = await countMarkers(dataDir);
  const tally: Record<string, number> = {};
  for (const [marker, status] of outcomes) {
    tally[status] = (tally[status] ?? 0) + 1;
    const times = counts.get(marker) ?? 0;
    if (status === "succeeded") expect(times, `${marker} was acknowledged`).toBe(1);
    else if (status === "unknown") expect(times, `${marker} may have happened`).toBeLessThanOrEqual(1);
    else expect([status, times], `${marker} was reported as not done`).toEqual(["failed", 0]);
  }
  console.log(`${KILLS} kills: ${JSON.stringify(tally)}, ${counts.size} markers found`);
  expect(tally.succeeded ?? 0).toBeGreaterThanOrEqual(KILLS);
  expect((tally.unknown ?? 0) + (tally.failed ?? 0)).toBeGreaterThan(0);
}, 300_000);
