import { createHash } from "node:crypto";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { execute } from "../../service/http-calls.ts";
import { killChild, killChildren, type ServedChild, serveChild } from "../../service/served-child.ts";
import { createRandom } from "../kit/create-random.ts";
import { fillApp, runWrite, WRITES } from "../kit/every-write.ts";
import { choose } from "../kit/fault-form.ts";

const KILLS = choose({ short: 24, long: 300 });
const CHILD = fileURLToPath(new URL("served-apps.ts", import.meta.url));
const APPS = ["drive", "notes", "mail", "calendar", "contacts"];
/** What a write that was cut off may leave, and what an undo leaves on purpose. */
const LEFT = /(^|\/)(\.svc-|\.trash|tmp)(\/|-|$)/;

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-undo-"));
});
afterEach(async () => {
  await killChildren();
  await rm(folder, { recursive: true, force: true });
});

/** Files of an app, by path and content; empty folders do not count. */
async function readApp(app: string): Promise<string[]> {
  const found: string[] = [];
  for (const entry of await readdir(join(folder, app), { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name).slice(join(folder, app).length + 1);
    if (!entry.isFile() || LEFT.test(path)) continue;
    const hash = createHash("sha256")
      .update(await readFile(join(folder, app, path)))
      .digest("hex");
    found.push(`${path} ${hash}`);
  }
  return found.sort();
}

/** The newest write in the log; not by its time, as the clocks of these processes go back. */
function readLast(): { id: string; status: string; error: string | null } | undefined {
  const database = new DatabaseSync(join(folder, "svc.db"), { readOnly: true });
  try {
    const sql =
      "select id, status, error from executions where side_effect_level <> 'read' order by rowid desc limit 1";
    return database.prepare(sql).get() as ReturnType<typeof readLast>;
  } finally {
    database.close();
  }
}

/** True where the service has what it needs to look for a write. */
function isKept(id: string): boolean {
  const database = new DatabaseSync(join(folder, "svc.db"), { readOnly: true });
  try {
    return database.prepare("select 1 from kept_writes where id = ?").get(id) !== undefined;
  } finally {
    database.close();
  }
}

test("whatever a kill cuts off is settled as the disk has it, and what happened can be taken back", async () => {
  const random = createRandom(20261130);
  const tally: Record<string, number> = {};
  let service: ServedChild = await serveChild(CHILD, folder);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const [tool = "", args = {}] = WRITES[Math.floor(random() * WRITES.length)] ?? [];
    const app = APPS.find((name) => tool.startsWith(`${name}_`)) ?? "";
    await fillApp(folder, app);
    const before = await readApp(app);
    const last = readLast()?.id;
    const running = runWrite(service, tool, args).catch(() => "cut off");
    // The first call of a process loads its app.
    await delay(40 + random() * 120);
    await killChild(service);
    const answer = await running;
    service = await serveChild(CHILD, folder);
    const row = readLast();
    if (row === undefined || row.id === last) {
      expect(await readApp(app), `${tool} was never begun`).toEqual(before);
      tally.never = (tally.never ?? 0) + 1;
      continue;
    }
    if (!isKept(row.id) && row.status !== "succeeded") {
      // It was killed before it kept anything, which is the last thing before it acts.
      expect(await readApp(app), `${tool} kept nothing`).toEqual(before);
      tally.kept_nothing = (tally.kept_nothing ?? 0) + 1;
      continue;
    }
    const isSettled = () => {
      const { status, error } = readLast() ?? { status: "", error: null };
      return status === "succeeded" || /not_done|cannot be known|"code":"(?!outcome_unknown)/.test(error ?? "");
    };
    await expect.poll(isSettled, { timeout: 20_000, message: `${tool} ${answer}` }).toBe(true);
    const { status, error } = readLast() ?? { status: "", error: "" };
    const after = await readApp(app);
    const verdict =
      status === "succeeded" ? "happened" : (error ?? "").includes("cannot be known") ? "unknown" : "did not";
    tally[verdict] = (tally[verdict] ?? 0) + 1;
    const isChanged = JSON.stringify(after) !== JSON.stringify(before) || tool === "drive_create_folder";
    if (answer === "done") expect(verdict, tool).toBe("happened");
    if (verdict === "happened") expect(isChanged, `${tool} is said to have happened`).toBe(true);
    if (verdict === "did not") expect(after, `${tool} is said not to have happened`).toEqual(before);
    if (verdict !== "happened" || tool === "mail_send_message") continue;
    const undone = await execute(service, `${app}_undo`, { arguments: { execution_id: row.id }, confirmed: true });
    expect(undone.status, `${tool}: ${JSON.stringify(undone.json.error)}`).toBe(200);
    expect(await readApp(app), `${tool} was undone`).toEqual(before);
    tally.undone = (tally.undone ?? 0) + 1;
  }
  console.log(`${KILLS} kills: ${JSON.stringify(tally)}`);
  expect(tally.happened ?? 0).toBeGreaterThan(0);
  expect(tally.unknown ?? 0).toBeLessThanOrEqual(KILLS / 10);
}, 3_000_000);
