import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startSvc } from "./run-svc.ts";
import type { WatchedProcess } from "./watch-process.ts";

/** Node opens a debugger, which runs any code, for every process of the user that sends SIGUSR1. */

let home: string;
const running: WatchedProcess[] = [];

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-inspector-"));
});

afterEach(async () => {
  for (const child of running.splice(0)) {
    child.kill("SIGKILL");
    await child.done;
  }
  await rm(home, { recursive: true, force: true });
});

/** A free port, so that a debugger could always be opened. */
const ENV = { NODE_OPTIONS: "--inspect-port=0" };

function start(...args: string[]): WatchedProcess {
  const child = startSvc(args, home, ENV);
  running.push(child);
  return child;
}

async function serve(): Promise<{ child: WatchedProcess; url: string }> {
  const child = start("serve", "--port", "0", "--data", join(home, "data"));
  const [, url = ""] = await child.waitFor(/Listening on (\S+)/);
  return { child, url };
}

test.skipIf(process.platform === "win32")("SIGUSR1 opens no debugger in the service", async () => {
  const { child, url } = await serve();
  for (let round = 0; round < 20; round += 1) {
    child.kill("SIGUSR1");
    expect((await fetch(`${url}/health`)).status).toBe(200);
  }
  child.kill("SIGTERM");
  const { code, stderr } = await child.done;
  expect(stderr).not.toContain("Debugger listening");
  expect(code).toBe(0);
});

test.skipIf(process.platform === "win32")("SIGUSR1 opens no debugger in a command that waits", async () => {
  const { url } = await serve();
  const pair = start("pair", "--base-url", url);
  await pair.waitFor(/http\S+\/pair\S*/);
  for (let round = 0; round < 20; round += 1) {
    pair.kill("SIGUSR1");
    await fetch(`${url}/health`);
  }
  pair.kill("SIGINT");
  expect((await pair.done).stderr).not.toContain("Debugger listening");
});
