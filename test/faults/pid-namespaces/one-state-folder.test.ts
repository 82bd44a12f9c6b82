import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { WatchedProcess } from "../../e2e/watch-process.ts";
import { createTool, type ScriptedService, startScriptedService } from "../../plugin/calls/scripted-service.ts";
import { startInPidNamespace } from "./pid-namespaces.ts";

/** Two containers with one host name on one state folder: neither can see whether the process of the other still runs. */

const CHILD = fileURLToPath(new URL("neighbour-child.ts", import.meta.url));
let folder: string;
let service: ScriptedService;
const started: WatchedProcess[] = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "svc-containers-"));
  service = await startScriptedService();
  service.offer(createTool("bank_pay", "write"));
  service.answer("/api/tools/bank_pay/execute", { drop: true });
});
afterEach(async () => {
  for (const one of started) one.kill("SIGKILL");
  await Promise.all(started.splice(0).map(({ done }) => done));
  await service.close();
  await rm(folder, { recursive: true, force: true });
});

async function startContainer(): Promise<WatchedProcess> {
  const container = startInPidNamespace(CHILD, [service.url, join(folder, "state")], { folder });
  started.push(container);
  await container.waitFor(/^open as process 1$/m);
  return container;
}

test("a payment whose answer was lost in one container is not made again by another, and an equal one is warned of it", async () => {
  const first = await startContainer();
  const second = await startContainer();
  first.type("c1\n");
  await first.waitFor(/^unknown c1$/m);
  second.type("c1\n");
  await second.waitFor(/^unknown c1$/m);
  expect(service.executed()).toHaveLength(1);
  second.type("c2\n");
  await second.waitFor(/^declined c2$/m);
  expect(second.output()).toContain("asked with the warning");
  first.kill("SIGKILL");
  const third = await startContainer();
  third.type("c1\n");
  await third.waitFor(/^unknown c1$/m);
  expect(service.executed()).toHaveLength(1);
});

test("of two containers that make one payment at once, one sends it", async () => {
  const both = [await startContainer(), await startContainer()];
  for (const one of both) one.type("c1\n");
  for (const one of both) await one.waitFor(/^unknown c1$/m);
  expect(service.executed()).toHaveLength(1);
});
