import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ServiceError } from "../../../src/service/service-error.ts";
import { by, listSteps, openTestFlows, principal, start, type TestFlows, waitFor } from "./flow-lab.ts";

const { accountId } = principal;
const conflict = { status: 409, options: { bare: true } };
const broken = new ServiceError(503, "provider_unavailable", "The lab is closed.", {
  type: "network",
  retryable: true,
  hint: "Wait.",
});

let cleanUps: (() => Promise<unknown>)[];
let t: TestFlows;
beforeEach(async () => {
  cleanUps = [];
  t = await openTestFlows({ onEnd: (cleanUp) => cleanUps.push(cleanUp) });
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
  expect(t.lab.errors).toEqual([]);
});

/** Closes the flows and opens them again, as a restart does. */
async function restart(): Promise<TestFlows["flows"]> {
  await t.flows.close();
  return t.open();
}

describe("flows", () => {
  test("run up to an approval, and to the end after it", async () => {
    const paused = await start(t.flows, "chain", { titles: ["a", "b"] });
    expect(paused.flow).toMatchObject({ status: "waiting", currentStep: "approve", completedAt: null });
    expect(listSteps(paused)).toEqual([
      "read:completed:1",
      "build:completed:1",
      "approve:waiting:1",
      "put:pending:0",
      "report:pending:0",
    ]);
    expect(paused.steps[2]?.output).toEqual({
      accounts: [{ app: "lab", account: "Lab", connection: "con_lab" }],
      message: "Put 2?",
      titles: ["a", "b"],
      approved: false,
    });
    const { id } = paused.flow;
    const done = await t.flows.approve(accountId, id, by);
    expect(done.flow).toMatchObject({ status: "completed", completedAt: expect.any(String) });
    expect(listSteps(done)).toEqual(["read", "build", "approve", "put", "report"].map((key) => `${key}:completed:1`));
    expect(done.steps[2]?.output).toMatchObject({ approved: true, approvedBy: "test" });
    expect(done.steps[4]?.output).toEqual({ done: 2, results: [{ title: "a" }, { title: "b" }] });
    expect(t.lab.ran).toEqual(["look:things", "put:a", "put:b"]);
  });

  test("skip steps that have nothing to do", async () => {
    const done = await start(t.flows, "chain", { titles: [] });
    expect(done.flow.status).toBe("completed");
    expect(listSteps(done)).toEqual([
      "read:completed:1",
      "build:completed:1",
      "approve:skipped:0",
      "put:skipped:0",
      "report:completed:1",
    ]);
  });

  test("of two approvals at one time one wins, and nothing is done twice", async () => {
    const { flow } = await start(t.flows, "chain");
    const both = await Promise.allSettled([1, 2].map(() => t.flows.approve(accountId, flow.id, by)));
    expect(both.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(both.find((one) => one.status === "rejected")?.reason).toMatchObject(conflict);
    await waitFor(t.flows, flow.id, (view) => view.flow.status === "completed");
    expect(t.lab.ran).toEqual(["look:things", "put:one"]);
    await expect(t.flows.approve(accountId, flow.id, by)).rejects.toMatchObject(conflict);
  });

  test("a step key must be the one that waits", async () => {
    const { flow } = await start(t.flows, "chain");
    await expect(t.flows.approve(accountId, flow.id, { ...by, stepKey: "put" })).rejects.toMatchObject(conflict);
    const done = await t.flows.approve(accountId, flow.id, { ...by, stepKey: "approve" });
    expect(done.flow.status).toBe("completed");
  });

  test("a failed step stops the flow; resume tries it again and repeats nothing that was done", async () => {
    const { flow } = await start(t.flows, "chain", { titles: ["a", "b", "c"] });
    t.lab.next.push(Promise.resolve(), broken);
    const failed = await t.flows.approve(accountId, flow.id, by);
    expect(failed.flow).toMatchObject({ status: "failed", currentStep: "put", completedAt: null });
    expect(failed.steps[3]).toMatchObject({
      status: "failed",
      attemptCount: 1,
      output: { done: 1 },
      error: { code: "provider_unavailable", message: "The lab is closed.", hint: "Wait.", retryable: true },
    });
    const done = await t.flows.resume(accountId, flow.id);
    expect(done.flow.status).toBe("completed");
    expect(done.steps[3]).toMatchObject({ status: "completed", attemptCount: 2, error: null, output: { done: 3 } });
    expect(done.steps[0]?.attemptCount).toBe(1);
    expect(t.lab.ran).toEqual(["look:things", "put:a", "put:b", "put:b", "put:c"]);
  });

  test("a write that nobody approved is not made", async () => {
    const failed = await start(t.flows, "bold");
    expect(failed.flow.status).toBe("failed");
    expect(failed.steps[0]?.error).toMatchObject({ code: "confirmation_required" });
    expect(t.lab.ran).toEqual([]);
  });

  test("cancel ends a flow that waits or failed, and refuses one that ended", async () => {
    const approval = await start(t.flows, "chain");
    const cancelled = await t.flows.cancel(accountId, approval.flow.id);
    expect(cancelled.flow).toMatchObject({ status: "cancelled", completedAt: null });
    expect(listSteps(cancelled)).toEqual([
      "read:completed:1",
      "build:completed:1",
      "approve:skipped:1",
      "put:skipped:0",
      "report:skipped:0",
    ]);
    const timed = await start(t.flows, "later", { seconds: 60 });
    expect((await t.flows.cancel(accountId, timed.flow.id)).flow.status).toBe("cancelled");
    t.lab.time += 61_000;
    await t.flows.sweep();
    const bold = await start(t.flows, "bold");
    expect(listSteps(await t.flows.cancel(accountId, bold.flow.id))).toEqual(["put:failed:1"]);
    const ended = await start(t.flows, "later");
    expect(ended.flow.status).toBe("completed");
    for (const { flow } of [approval, timed, bold, ended]) {
      await expect(t.flows.cancel(accountId, flow.id)).rejects.toMatchObject(conflict);
      await expect(t.flows.resume(accountId, flow.id)).rejects.toMatchObject(conflict);
      await expect(t.flows.approve(accountId, flow.id, by)).rejects.toMatchObject(conflict);
    }
    expect(t.lab.ran).toEqual(["look:things", "look:late"]);
  });

  test("cancel of a running flow lets the call under way end, records it, and begins nothing more", async () => {
    const { flow } = await start(t.flows, "chain", { titles: ["a", "b"] });
    const hold = Promise.withResolvers<void>();
    t.lab.next.push(hold.promise);
    const approved = t.flows.approve(accountId, flow.id, by);
    await waitFor(t.flows, flow.id, () => t.lab.ran.includes("put:a"));
    await expect(t.flows.resume(accountId, flow.id)).rejects.toMatchObject(conflict);
    const cancelled = await t.flows.cancel(accountId, flow.id);
    expect(cancelled.flow.status).toBe("cancelled");
    expect(cancelled.steps[3]).toMatchObject({ status: "skipped", error: { code: "cancelled" } });
    hold.resolve();
    expect((await approved).flow.status).toBe("cancelled");
    expect(t.lab.ran).toEqual(["look:things", "put:a"]);
  });

  test("a flow that waits for an approval survives a restart", async () => {
    const { flow } = await start(t.flows, "chain");
    const flows = await restart();
    expect((await flows.get(accountId, flow.id)).flow.status).toBe("waiting");
    expect((await flows.approve(accountId, flow.id, by)).flow.status).toBe("completed");
    expect(t.lab.ran).toEqual(["look:things", "put:one"]);
  });

  test("a timed wait survives a restart and ends when its time has come", async () => {
    const { flow, steps } = await start(t.flows, "later", { seconds: 3600 });
    expect(flow).toMatchObject({ status: "waiting", currentStep: "wait" });
    expect(steps[0]?.output).toEqual({ waitUntil: "2026-11-20T11:00:00.000Z" });
    await expect(t.flows.resume(accountId, flow.id)).rejects.toMatchObject(conflict);
    await expect(t.flows.approve(accountId, flow.id, by)).rejects.toMatchObject(conflict);
    t.lab.time += 3_600_000;
    const flows = await restart();
    const done = await waitFor(flows, flow.id, (view) => view.flow.status === "completed");
    expect(listSteps(done)).toEqual(["wait:completed:1", "read:completed:1"]);
  });

  test("resume ends a wait whose time has come", async () => {
    const { flow } = await start(t.flows, "later", { seconds: 3600 });
    t.lab.time += 3_600_000;
    expect((await t.flows.resume(accountId, flow.id)).flow.status).toBe("completed");
    expect(t.lab.ran).toEqual(["look:late"]);
  });

  test("a stop between two calls of a step loses nothing and repeats nothing", async () => {
    const { flow } = await start(t.flows, "chain", { titles: ["a", "b"] });
    const hold = Promise.withResolvers<void>();
    t.lab.next.push(hold.promise);
    const approved = t.flows.approve(accountId, flow.id, by);
    await waitFor(t.flows, flow.id, () => t.lab.ran.includes("put:a"));
    const closed = t.flows.close();
    hold.resolve();
    await Promise.all([closed, approved]);
    expect(t.lab.ran).toEqual(["look:things", "put:a"]);
    const flows = await t.open();
    const done = await waitFor(flows, flow.id, (view) => view.flow.status === "completed");
    expect(done.steps[3]).toMatchObject({ attemptCount: 1, output: { done: 2 } });
    expect(t.lab.ran).toEqual(["look:things", "put:a", "put:b"]);
  });

  test("many flows at one time all end", async () => {
    const flows = await Promise.all(Array.from({ length: 30 }, () => start(t.flows, "chain")));
    await Promise.all(flows.map(({ flow }) => t.flows.approve(accountId, flow.id, by)));
    const all = await t.flows.list({ accountId }, 100);
    expect(all.map(({ status }) => status)).toEqual(flows.map(() => "completed"));
    expect(t.lab.ran.filter((name) => name === "put:one")).toHaveLength(30);
  });
});
