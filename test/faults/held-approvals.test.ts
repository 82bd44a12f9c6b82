import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createSignInLink } from "../../src/service/create-sign-in-link.ts";
import { startTestService } from "../../src/testing.ts";
import { findFreePort } from "../service/free-port.ts";
import { choose } from "./kit/fault-form.ts";
import { HELD_FORM, runHeldWrites } from "./kit/held/run-held-writes.ts";

/** The service, which holds all calls for its owner, and the agent that asks are killed again and again. */

const NODE = fileURLToPath(new URL("../service/postgres/node-child.ts", import.meta.url));

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

test(
  "on SQLite: nothing runs without a click, and with one each write once",
  async () => {
    const dataDir = join(folder, "service");
    const port = await findFreePort();
    const first = await startTestService({ dataDir, port });
    const { apiKey, url } = first;
    await first.close();
    const serve = async () => {
      const options = JSON.stringify({ dataDir, port, approvals: "owner" });
      served = spawn(process.execPath, [NODE, options], { stdio: ["ignore", "pipe", "inherit"] });
      for await (const _ready of createInterface({ input: served.stdout ?? expect.unreachable() })) return;
    };
    await serve();
    const place = {
      url,
      apiKey,
      dataDir,
      signInUrl: () => createSignInLink({ dataDir }),
      kill: () => kill().then(serve),
    };
    const tally = await runHeldWrites(place, { ...HELD_FORM, seed: 18 });
    console.log(JSON.stringify(tally));
    expect(tally.effects).toEqual({ 1: tally.writes });
  },
  choose({ short: 180_000, long: 1_800_000 }),
);
