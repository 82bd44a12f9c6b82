import { randomUUID } from "node:crypto";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openSqlite } from "../../src/service/store/open-sqlite.ts";
import { type WatchedProcess, watchProcess } from "../e2e/watch-process.ts";
import { findFreePort } from "../service/free-port.ts";
import { choose } from "./kit/fault-form.ts";

/**
 * The service is killed while so many writes are under way that their records share transactions: some are on disk and
 * not answered, some have acted and not ended, some have not begun.
 */

const CHILD = fileURLToPath(new URL("kit/service-child.ts", import.meta.url));
const KILLS = choose({ short: 5, long: 60 });
const CALLERS = 16;

let folder: string;
let served: WatchedProcess | undefined;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-busy-"));
});
afterEach(async () => {
  served?.kill("SIGKILL");
  await served?.done;
  await rm(folder, { recursive: true, force: true });
});

async function serve(port: number): Promise<{ url: string; apiKey: string }> {
  const args = [CHILD, join(folder, "data"), String(port), join(folder, "ledger")];
  served = watchProcess(process.execPath, args, { env: { ...process.env }, timeoutMs: 240_000 });
  const [, found = ""] = await served.waitFor(/^serving (.+)$/m);
  return JSON.parse(found) as { url: string; apiKey: string };
}

async function send({ url, apiKey }: { url: string; apiKey: string }, text: string, isKeyed: boolean) {
  const key = isKeyed ? { idempotency_key: text } : {};
  const body = JSON.stringify({ integration_id: "ledger", action_id: "write", input: { text }, confirm: true, ...key });
  const headers = { "content-type": "application/json", "x-svc-api-key": apiKey };
  const reply = await fetch(`${url}/api/executions`, { method: "POST", headers, body });
  return (await reply.json()) as { status: string; execution_id: string; output?: unknown };
}

/** How often each text is in the ledger. */
async function countEffects(): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  const lines = await readFile(join(folder, "ledger"), "utf8").catch(() => "");
  for (const line of lines.split("\n").filter((one) => one !== "")) counts.set(line, (counts.get(line) ?? 0) + 1);
  return counts;
}

/** Status of the execution of each text, and of each id; a text without a key has one execution here, too. */
function readLog(): Map<string, string> {
  const database = openSqlite(join(folder, "data", "svc.db"));
  const rows = database.prepare("SELECT id, arguments, status FROM executions").all();
  database.close();
  return new Map(
    rows.flatMap(({ id, arguments: args, status }) => {
      const { text } = JSON.parse(String(args)) as { text: string };
      return [
        [String(id), String(status)],
        [text, String(status)],
      ];
    }),
  );
}

test("what was answered is in the log, what acted has its start there, and keys act once", async () => {
  const port = await findFreePort();
  let address = await serve(port);
  const answered = new Map<string, string>();
  const sent: { text: string; isKeyed: boolean }[] = [];
  for (let kill = 0; kill < KILLS; kill += 1) {
    const before = answered.size;
    const call = async (isKeyed: boolean) => {
      for (;;) {
        const text = randomUUID();
        sent.push({ text, isKeyed });
        const { status, execution_id } = await send(address, text, isKeyed);
        expect(status).toBe("succeeded");
        answered.set(text, execution_id);
      }
    };
    const callers = Array.from({ length: CALLERS }, (_, index) =>
      call(index % 2 === 0).catch((error: unknown) => error),
    );
    await expect.poll(() => answered.size, { timeout: 60_000 }).toBeGreaterThan(before + CALLERS);
    await delay(Math.random() * 50);
    served?.kill("SIGKILL");
    await served?.done;
    for (const ended of await Promise.all(callers)) expect(ended).toBeInstanceOf(TypeError);
    address = await serve(port);
    const [effects, log] = [await countEffects(), readLog()];
    for (const [text, id] of answered) expect([log.get(id), effects.get(text)], text).toEqual(["succeeded", 1]);
    for (const [text, times] of effects) expect([log.has(text), times], text).toEqual([true, 1]);
    expect([...log.values()]).not.toContain("started");
  }
  const open = sent.filter(({ text }) => !answered.has(text));
  expect(open.length).toBeGreaterThan(0);
  for (const { text } of open.filter(({ isKeyed }) => isKeyed)) {
    const known = readLog().get(text);
    const { status } = await send(address, text, true);
    expect(status, `${text} was ${known}`).toBe(known ?? "succeeded");
  }
  for (const [text, times] of await countEffects()) expect(times, text).toBe(1);
  console.log(`${KILLS} kills: ${sent.length} writes, ${answered.size} answered, ${open.length} open`);
}, 300_000);
