import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/service/service-error.ts";
import { checkOptions, type ServiceOptions } from "../../../src/service/service-options.ts";
import { forgetEnded } from "../../../src/service/store/retention.ts";
import type { ExecutionRow } from "../../../src/service/store/schema.ts";
import type { FlowView } from "../../../src/shared/wire/flow.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { by, openTestFlows, principal, start, type TestFlows } from "../flows/flow-lab.ts";
import { call, execute } from "../http-calls.ts";
import { createLab } from "../lab-integration.ts";

const DAY = 24 * 60 * 60 * 1000;
const { accountId } = principal;

let t: TestFlows;
let cleanUps: (() => Promise<unknown>)[];
beforeEach(async () => {
  cleanUps = [];
  t = await openTestFlows({
    onEnd: (cleanUp) => cleanUps.push(cleanUp),
  });
  await t.store
    .insertInto("accounts")
    .values({ id: accountId, created_at: toText(0) })
    .execute();
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

function toText(later: number): string {
  return new Date(t.lab.time + later).toISOString();
}

function forget(days = 90, isStopping = () => false): Promise<void> {
  return forgetEnded({ store: t.store, time: t.lab.time, days, isStopping });
}

async function log(id: string, row: Partial<ExecutionRow> = {}): Promise<void> {
  const what = { tool_name: "lab_put", integration: "lab", action_id: "put", side_effect_level: "write" as const };
  const who = { account_id: accountId, api_key_id: null, connection_id: "con_lab", node_id: null };
  const how = { arguments: "{}", status: "succeeded" as const, output: "null", error: null };
  const when = { started_at: toText(0), finished_at: toText(0) };
  await t.store
    .insertInto("executions")
    .values({ id, ...what, ...who, ...how, ...when, ...row })
    .execute();
}

async function listIds(table: "executions" | "flows"): Promise<string[]> {
  const rows = await t.store.selectFrom(table).select("id").orderBy("id").execute();
  return rows.map(({ id }) => id);
}

describe("executions", () => {
  test("that ended are removed after their days, not before", async () => {
    await log("exe_failed", { status: "failed" });
    await log("exe_refused", { status: "refused" });
    await log("exe_succeeded");
    t.lab.time += 90 * DAY;
    await forget();
    expect(await listIds("executions")).toHaveLength(3);
    t.lab.time += 1;
    await log("exe_new");
    await forget();
    expect(await listIds("executions")).toEqual(["exe_new"]);
  });

  test("that run, or whose end was found out late, stay", async () => {
    await log("exe_closed", { status: "failed", finished_at: toText(95 * DAY) });
    await log("exe_running", { status: "started", finished_at: null });
    t.lab.time += 100 * DAY;
    await forget();
    expect(await listIds("executions")).toEqual(["exe_closed", "exe_running"]);
  });

  test("that a valid idempotency key stands for stay", async () => {
    const expires_at = toText(7 * DAY);
    await log("exe_key");
    await log("exe_other");
    const key = { account_id: accountId, key: "k", input_hash: "", created_at: toText(0), expires_at };
    await t.store
      .insertInto("idempotency_keys")
      .values({ ...key, execution_id: "exe_key" })
      .execute();
    t.lab.time += 3 * DAY;
    await forget(1);
    expect(await listIds("executions")).toEqual(["exe_key"]);
    t.lab.time += 4 * DAY;
    await forget(1);
    expect(await listIds("executions")).toEqual([]);
  });

  test("go batch by batch, past those that stay, and a stop breaks off between two", async () => {
    for (let index = 0; index < 160; index++) {
      const row = index % 2 === 0 ? {} : { status: "started" as const, finished_at: null };
      await log(`exe_${String(index).padStart(3, "0")}`, row);
    }
    t.lab.time += 91 * DAY;
    let asked = 0;
    await forget(90, () => ++asked > 2);
    expect((await listIds("executions")).length).toBeGreaterThan(80);
    await forget();
    expect(await listIds("executions")).toHaveLength(80);
  });

  test("let requests in meanwhile", async () => {
    for (let index = 0; index < 120; index++) await log(`exe_${index}`);
    t.lab.time += 91 * DAY;
    const turns: number[] = [];
    const wait = new Promise<void>((resolve) => setImmediate(resolve)).then(async () => {
      turns.push((await listIds("executions")).length);
    });
    await forget();
    await wait;
    expect(turns[0]).toBeGreaterThan(0);
  });
});

describe("flows", () => {
  test("that ended are removed with their steps and calls, and those that wait can go on", async () => {
    const waiting = await start(t.flows, "chain");
    const completed = await start(t.flows, "chain");
    await t.flows.approve(accountId, completed.flow.id, by);
    const cancelled = await start(t.flows, "chain");
    await t.flows.cancel(accountId, cancelled.flow.id);
    const later = await start(t.flows, "later", { seconds: (200 * DAY) / 1000 });
    const failed = await start(t.flows, "bold");
    expect([completed, failed].map(({ flow }) => flow.status)).toEqual(["waiting", "failed"]);
    await t.flush();
    const before = await t.store.selectFrom("executions").select("id").execute();
    expect(before.length).toBeGreaterThan(0);
    t.lab.time += 91 * DAY;
    await forget();
    expect(await listIds("flows")).toEqual([waiting, later].map(({ flow }) => flow.id).sort());
    const steps = await t.store.selectFrom("flow_steps").select("flow_id").distinct().execute();
    expect(steps.map(({ flow_id }) => flow_id).sort()).toEqual(await listIds("flows"));
    // The page of a flow that waits still shows what it has read.
    const calls = await t.store.selectFrom("flow_calls").select(["flow_id", "execution_id"]).execute();
    expect(calls.map(({ flow_id }) => flow_id)).toEqual([waiting.flow.id]);
    expect(await listIds("executions")).toEqual(calls.map(({ execution_id }) => execution_id));
    await expect(t.flows.get(accountId, completed.flow.id)).rejects.toMatchObject({ status: 404 });
    expect((await t.flows.approve(accountId, waiting.flow.id, by)).flow.status).toBe("completed");
  });

  test("keep the record of the calls they made, so that a late resume repeats none", async () => {
    const { flow } = await start(t.flows, "chain", { titles: ["a", "b"] });
    t.lab.next.push(Promise.resolve(), new ServiceError(503, "provider_unavailable", "Closed."));
    const failed = await t.flows.approve(accountId, flow.id, by);
    expect(failed.flow.status).toBe("failed");
    await t.flush();
    // The executions are older than the failed flow's last change.
    await t.store
      .updateTable("flows")
      .set({ updated_at: toText(30 * DAY) })
      .execute();
    t.lab.time += 100 * DAY;
    await forget();
    expect(await listIds("executions")).toHaveLength(3);
    const done: FlowView = await t.flows.resume(accountId, flow.id);
    expect(done.flow.status).toBe("completed");
    expect(t.lab.ran).toEqual(["look:things", "put:a", "put:b", "put:b"]);
  });

  test("that are resumed this moment stay", async () => {
    const { flow } = await start(t.flows, "bold");
    t.lab.time += 91 * DAY;
    const [resumed] = await Promise.allSettled([t.flows.resume(accountId, flow.id), forget()]);
    const left = await listIds("flows");
    expect(left).toEqual(resumed.status === "fulfilled" ? [flow.id] : []);
    const steps = await t.store.selectFrom("flow_steps").selectAll().execute();
    expect(steps).toHaveLength(left.length);
  });
});

describe("the service", () => {
  test("removes by itself what is older than its days", async () => {
    const dataDir = await mkdtemp(join(tmpdir(), "svc-keep-"));
    cleanUps.push(() => rm(dataDir, { recursive: true, force: true }));
    let time = t.lab.time;
    const open = async (options: Partial<ServiceOptions> = {}) => {
      const service = await startTestService({
        dataDir,
        integrations: [createLab().integration],
        now: () => time,
        ...options,
      });
      cleanUps.push(() => service.close());
      return service;
    };
    const first = await open();
    await first.service.connections.add({ integration: "lab", label: "Lab", settings: {} });
    const { json } = await execute(first, "lab_look");
    const path = `/api/executions/${json.canonical.execution_id}`;
    const find = async ({ url, apiKey }: TestService) => (await call(`${url}${path}`, { key: apiKey })).status;
    expect(await find(first)).toBe(200);
    await first.close();
    time += DAY;
    await (await open({ retentionDays: 1 })).close();
    time += DAY;
    const second = await open({ retentionDays: 1 });
    await expect.poll(() => find(second)).toBe(404);
  });

  test.each([
    [undefined, 90],
    [0, 0],
    [null, 0],
    [7, 7],
  ])("keeps for %j: %d days", (retentionDays, days) => {
    const options = retentionDays === undefined ? {} : { retentionDays };
    expect(checkOptions({ dataDir: "x", ...options }).retentionDays).toBe(days);
  });

  test.each([-1, 1.5, Number.NaN])("does not keep for %d days", (retentionDays) => {
    const refusal = expect.objectContaining({ code: "invalid_config", field: "retentionDays" });
    expect(() => checkOptions({ dataDir: "x", retentionDays })).toThrow(refusal);
  });

  test("keeps for more days than there are", async () => {
    await log("exe_old");
    await forget(Number.MAX_SAFE_INTEGER);
    expect(await listIds("executions")).toEqual(["exe_old"]);
  });
});
