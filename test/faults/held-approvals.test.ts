import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createToolSession } from "../../src/calls/session.ts";
import { startTestService } from "../../src/testing.ts";
import { findFreePort } from "../service/free-port.ts";
import { type Browser, openBrowser, readCsrf } from "../service/http/pages/browser.ts";
import { choose } from "./kit/fault-form.ts";

/** The service is killed while calls wait for its owner: an approved call runs once, a declined one never. */

const KILLS = choose({ short: 6, long: 60 });
const WRITERS = 3;
const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

let folder: string;
let served: ChildProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-held-"));
});

afterEach(async () => {
  await kill();
  await rm(folder, { recursive: true, force: true });
});

async function kill(): Promise<void> {
  if (served?.exitCode !== null || served.signalCode !== null) return;
  served.kill("SIGKILL");
  await once(served, "exit");
}

/** Starts the service; the link that signs its owner in. */
async function serve(dataDir: string, port: number): Promise<string> {
  const args = ["serve", "--port", String(port), "--data", dataDir, "--approvals", "owner"];
  const child = spawn(process.execPath, [BIN, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  served = child;
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
    const link = /Sign in: (\S+)\n/.exec(printed)?.[1];
    if (link !== undefined) resolve(link);
  });
  child.once("exit", (code) => reject(new Error(`svc serve ended with ${code}: ${printed}`)));
  return promise;
}

async function countMarkers(dataDir: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (const entry of await readdir(join(dataDir, "notes"), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith(".svc-unfinished")) continue;
    const text = await readFile(join(entry.parentPath, entry.name), "utf8");
    for (const [marker] of text.matchAll(/marker-[0-9a-f-]{36}/g)) counts.set(marker, (counts.get(marker) ?? 0) + 1);
  }
  return counts;
}

/** Approves every call in the inbox but those that say "decline". */
async function decideAll(browser: Browser, url: string): Promise<void> {
  const inbox = await browser.open(`${url}/inbox`);
  for (const [, id = ""] of inbox.text.matchAll(/class="button primary" href="\/inbox\/(apr_\w+)"/g)) {
    const page = await browser.open(`${url}/inbox/${id}`);
    const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1];
    if (fingerprint === undefined) continue;
    const decision = page.text.includes("please decline") ? "decline" : "approve";
    await browser.submit(`${url}/inbox/${id}`, { csrf: readCsrf(page), fingerprint, decision });
  }
}

test("the service is killed while its owner decides: what was approved runs once, what was declined never", async () => {
  const dataDir = join(folder, "service");
  const port = await findFreePort();
  const first = await startTestService({ dataDir, port });
  const { apiKey, url } = first;
  await first.close();
  const browser = openBrowser();
  await browser.open(await serve(dataDir, port));

  const outcomes = new Map<string, { status: string; isDeclined: boolean }>();
  let stopped = false;
  const write = async (writer: number) => {
    const stateDir = join(folder, `state-${writer}`);
    const session = await createToolSession({ baseUrl: url, apiKey, stateDir, approve: "owner" });
    for (let turn = 0; !stopped; turn += 1) {
      const marker = `marker-${randomUUID()}`;
      const isDeclined = turn % 3 === 2;
      const title = isDeclined ? "please decline" : `Page of writer ${writer}`;
      const call = { callId: marker, toolName: "notes_create_page", arguments: { title, body: marker } };
      const { status } = await session.call(call);
      outcomes.set(marker, { status, isDeclined });
      if (status !== "succeeded") await delay(20);
    }
    await session.close();
  };
  let isOver = false;
  const owner = (async () => {
    while (!isOver) await decideAll(browser, url).catch(() => delay(50));
  })();
  const finished = Promise.allSettled(Array.from({ length: WRITERS }, (_, writer) => write(writer)));
  for (let round = 0; round < KILLS; round += 1) {
    const before = outcomes.size;
    await expect.poll(() => outcomes.size, { timeout: 60_000 }).toBeGreaterThan(before);
    await delay(Math.random() * 400);
    await kill();
    await serve(dataDir, port);
  }
  await delay(300);
  stopped = true;
  for (const result of await finished) expect(result).toMatchObject({ status: "fulfilled" });
  isOver = true;
  await owner;

  const counts = await countMarkers(dataDir);
  const tally: Record<string, number> = {};
  for (const [marker, { status, isDeclined }] of outcomes) {
    tally[status] = (tally[status] ?? 0) + 1;
    const times = counts.get(marker) ?? 0;
    if (isDeclined) expect([status === "succeeded", times], `${marker} was not approved`).toEqual([false, 0]);
    else if (status === "succeeded") expect(times, `${marker} was acknowledged`).toBe(1);
    else expect(times, `${marker} ended as ${status}`).toBeLessThanOrEqual(1);
  }
  console.log(`${KILLS} kills: ${JSON.stringify(tally)}, ${counts.size} markers found`);
  expect(tally.succeeded ?? 0).toBeGreaterThan(0);
  expect(tally.declined ?? 0).toBeGreaterThan(0);
}, 300_000);
