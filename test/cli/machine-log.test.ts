import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { ServiceLog } from "../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../src/testing.ts";
import { runSvc } from "../e2e/run-svc.ts";

/** What `svc rules` and `svc people` change stands in the log of the service, as changes on its pages do. */

type Entry = Parameters<ServiceLog>[0];

let home: string;
let service: TestService;
let entries: Entry[];
const start = async () => {
  entries = [];
  const dataDir = join(home, "service");
  service = await startTestService({ dataDir, heartbeatMs: 50, log: (entry) => entries.push(entry) });
};
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), "svc-machine-log-"));
  await start();
});
afterEach(async () => {
  await service.close();
  await rm(home, { recursive: true, force: true });
});

const svc = async (...args: string[]) => {
  const run = await runSvc([...args, "--data", service.dataDir], home);
  expect(run.code, run.stderr).toBe(0);
  return run.stdout;
};
const changes = () => entries.filter(({ facts }) => facts?.by_id === "machine");
const waitFor = (count: number) => expect.poll(() => changes().length, { timeout: 10_000 }).toBe(count);

test("each change has one line, with the user who ran the command", async () => {
  await svc("rules", "add", "block", "notes/*");
  const again = await svc("rules", "add", "block", "notes/*", "--json");
  const { id } = JSON.parse(again);
  await svc("people", "invite", "Ada");
  await svc("people", "remove", "Ada", "--yes");
  await svc("rules", "remove", id, "--yes");
  await waitFor(4);
  const told = changes().map(({ level, facts }) => [level, facts?.event, facts?.name]);
  expect(told).toEqual([
    ["info", "rule.added", "block notes/*"],
    ["info", "person.invited", "Ada"],
    ["info", "person.removed", "Ada"],
    ["info", "rule.removed", "block notes/*"],
  ]);
  const [first] = changes();
  expect(first?.facts).toMatchObject({ id, by: expect.stringMatching(/./) });
  const shown = `(machine) added the rule "block notes/*" (${id}) at 20`;
  expect(first?.message).toContain(shown);
});

test("what is changed while the service is stopped is told at its start", async () => {
  await svc("people", "list");
  await service.close();
  await svc("rules", "add", "ask", "mail/*");
  await start();
  await waitFor(1);
  expect(changes()[0]?.message).toContain('added the rule "ask mail/*"');
});
