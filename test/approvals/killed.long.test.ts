import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../src/testing.ts";
import { closeAll, closeLater } from "../calls/open-test-session.ts";
import { makeHost } from "./contract.ts";
import type { Answer, Host, ModelCall, Turn } from "./door.ts";
import { DOORS } from "./doors.ts";

/** Every turn of a conversation in a process of its own, some of which are killed without warning. */

let service: TestService;
let host: Host;
beforeEach(async () => {
  service = closeLater(await startTestService());
  host = await makeHost(service);
});
afterEach(closeAll);

const CHILD = new URL("./door-child.ts", import.meta.url).pathname;
const WRITE: readonly ModelCall[] = [{ id: "w1", name: "notes_create_page", args: { title: "w1", body: "text" } }];

type Task = { readonly at?: "sending" | "finished"; readonly host?: Partial<Host> } & (
  | { readonly calls: readonly ModelCall[] }
  | { readonly saved: string; readonly answers: readonly Answer[] }
);

/** Has a process take one turn; undefined for one that was killed where it said that it stops, or that failed. */
async function take(door: string, task: Task): Promise<Turn | undefined> {
  const args = [CHILD, door, JSON.stringify({ ...task, host: { ...host, ...task.host } })];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "ignore"] });
  let printed = "";
  for await (const chunk of child.stdout) {
    printed += String(chunk);
    if (task.at !== undefined && printed.includes(`at ${task.at}\n`)) break;
  }
  if (task.at !== undefined) {
    expect(printed).toContain(`at ${task.at}\n`);
    child.kill("SIGKILL");
  }
  if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  const last = printed.trim().split("\n").at(-1) ?? "";
  return last.startsWith("{") ? (JSON.parse(last) as Turn) : undefined;
}

const readTitles = async () => (await service.effects()).map((effect) => effect.arguments.title);

describe.each(DOORS.filter(({ outlives }) => outlives).map(({ name }) => name))("%s", (door) => {
  const ask = async () => (await take(door, { calls: WRITE }))?.saved ?? expect.fail("It asked nothing.");

  it("runs a call once that one process asks about, and others answer", async () => {
    const saved = await ask();
    const ended = await take(door, { saved, answers: ["approve"] });
    expect(ended?.told.join()).toContain("succeeded");
    await take(door, { saved, answers: ["approve"] });
    expect(await readTitles()).toEqual(["w1"]);
  });

  it("never repeats a call whose process was killed between the yes and the request", async () => {
    const saved = await ask();
    await take(door, { saved, answers: ["approve"], at: "sending" });
    expect(await readTitles()).toEqual([]);
    // Nobody knows whether the request had left.
    await take(door, { saved, answers: ["approve"] });
    expect(await readTitles()).toEqual([]);
  });

  it("runs that call once where the service keeps keys", async () => {
    const keyed = { idempotencyKeys: "when_known" } as const;
    const saved = await ask();
    await take(door, { saved, answers: ["approve"], at: "sending", host: keyed });
    await take(door, { saved, answers: ["approve"], host: keyed });
    expect(await readTitles()).toEqual(["w1"]);
  });

  it("runs a call once whose process was killed before it could say how it ended", async () => {
    const saved = await ask();
    await take(door, { saved, answers: ["approve"], at: "finished" });
    expect(await readTitles()).toEqual(["w1"]);
    await take(door, { saved, answers: ["approve"] });
    expect(await readTitles()).toEqual(["w1"]);
  });
});
