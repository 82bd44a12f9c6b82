import { afterEach, beforeEach, expect, test } from "vitest";
import { exportLog, type LogFilter, type LogLine } from "../../../src/service/approvals/export-log.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { findStore, openStoreOf } from "../find-store.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";
import { decideHeld } from "./owner.ts";

let service: TestService;
let clock: number;

beforeEach(async () => {
  clock = Date.parse("2026-01-25T12:00:00Z");
  const { integration } = createLab();
  service = await startTestService({ integrations: [integration], approvals: "owner", now: () => clock });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterEach(() => service.close());

/** A read is in the log soon after its answer; at once where its process is asked for an execution. */
const writeReads = () => call(`${service.url}/api/executions/exe_none`, { key: service.apiKey });

async function exported(filter: LogFilter & { isFull?: boolean } = {}): Promise<LogLine[]> {
  await writeReads();
  const place = { dataDir: service.dataDir, ...(await findStore(service.dataDir)) };
  return Array.fromAsync(exportLog({ isFull: false, ...filter, ...place }));
}
const hold = async (title: string) =>
  (await execute(service, "lab_put", { arguments: { title } })).json.error.approval.id as string;
const look = (text: string) => execute(service, "lab_look", { arguments: { text } });
const isDone = async (id: string) => {
  const read = () => call(`${service.url}/api/approvals/${id}`, { key: service.apiKey });
  await expect.poll(async () => (await read()).json.approval.status).toBe("done");
};

test("executions have the decision of their approval, and requests that did not run are there with the reason", async () => {
  await look("first");
  clock += 1000;
  const declined = await hold("declined");
  clock += 1000;
  const approved = await hold("approved");
  clock += 1000;
  await decideHeld(service, declined, "decline", { reason: "Not today." });
  clock += 1000;
  await decideHeld(service, approved, "approve");
  await isDone(approved);
  clock += 1000;
  await hold("waits");
  const lines = await exported();
  expect(lines).toMatchObject([
    { type: "execution", tool: "lab_look", status: "succeeded", effect: "read", approval: null, error: null },
    { status: "refused", tool: "lab_put", approval: { id: declined, status: "declined", reason: "Not today." } },
    { status: "succeeded", app: "lab", approval: { id: approved, status: "approved", reason: null } },
    { type: "approval", status: "expired", approval: { decided_at: null, decided_by: null } },
  ]);
  const [, no, yes] = lines.map(({ approval }) => approval);
  expect(no).toMatchObject({ decided_by: expect.stringMatching(/owner/i), decided_at: "2026-01-25T12:00:03.000Z" });
  expect(yes).toMatchObject({ decided_by: expect.stringMatching(/owner/i), decided_at: "2026-01-25T12:00:04.000Z" });
  expect(lines[0]).toMatchObject({ asked_by: { name: "Test device" }, time: "2026-01-25T12:00:00.000Z" });
  expect(JSON.stringify(lines)).not.toMatch(/arguments|result|first|waits/);
});

test("filters by day, tool and status as the log page does; with arguments and results only when asked", async () => {
  await look("one");
  clock += 1000;
  await execute(service, "lab_fail", { arguments: { how: "gone" } });
  clock += 24 * 60 * 60_000;
  await look("two");
  clock += 1000;
  await hold("three");
  const tools = async (filter: LogFilter) => (await exported(filter)).map(({ tool }) => tool);
  expect(await tools({ to: "2026-01-25" })).toEqual(["lab_look", "lab_fail"]);
  expect(await tools({ from: "2026-01-26" })).toEqual(["lab_look", "lab_put"]);
  expect(await tools({ from: "2026-01-27" })).toEqual([]);
  expect(await tools({ tool: "lab_look" })).toEqual(["lab_look", "lab_look"]);
  expect(await tools({ status: "failed" })).toEqual(["lab_fail"]);
  expect(await tools({ status: "expired" })).toEqual(["lab_put"]);
  expect(await exported({ status: "failed" })).toMatchObject([{ error: { code: "not_found" } }]);
  const [line] = await exported({ isFull: true });
  expect(line).toMatchObject({ arguments: { text: "one" }, result: { args: { text: "one" }, connection: "First" } });
});

test("goes on from page to page, each line once and in order", async () => {
  await look("seed");
  const store = await openStoreOf(service.dataDir);
  await writeReads();
  const row = await store.selectFrom("executions").selectAll().executeTakeFirstOrThrow();
  // Many of one moment, across the ends of pages.
  const rows = Array.from({ length: 999 }, (_, index) => ({
    ...row,
    id: `exe_${String(index).padStart(4, "0")}`,
    started_at: new Date(clock + Math.floor(index / 300)).toISOString(),
  }));
  for (let index = 0; index < rows.length; index += 100) {
    await store
      .insertInto("executions")
      .values(rows.slice(index, index + 100))
      .execute();
  }
  await store.destroy();
  for (const isFull of [false, true]) {
    const lines = await exported({ isFull });
    expect(new Set(lines.map(({ id }) => id)).size).toBe(1000);
    expect(lines).toHaveLength(1000);
    const times = lines.map(({ time }) => time);
    expect(times).toEqual(times.toSorted());
  }
});
