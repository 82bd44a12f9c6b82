import type { KyselyPlugin } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { FlowRow, FlowStepRow } from "../../../src/service/store/schema.ts";
import { by, listSteps, openTestFlows, principal, start, type TestFlows, waitFor } from "./flow-lab.ts";

/** Moves of a human while the flow goes on: what happens between the look at the flow and the change of it. */

const { accountId } = principal;

let t: TestFlows;
let cleanUps: (() => Promise<unknown>)[];
/** Done after the next looks at a flow, one after each. */
let meanwhile: (() => Promise<unknown>)[];
beforeEach(async () => {
  cleanUps = [];
  meanwhile = [];
  const afterLook: KyselyPlugin = {
    transformQuery: ({ node }) => node,
    async transformResult({ result }) {
      const isLook = result.rows.some((row) => "step_index" in row);
      if (isLook) await meanwhile.shift()?.();
      return result;
    },
  };
  t = await openTestFlows({
    look: (store) => store.withPlugin(afterLook),
    onEnd: (cleanUp) => cleanUps.push(cleanUp),
  });
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

async function changeFlow(id: string, change: Partial<FlowRow>): Promise<void> {
  await t.store.updateTable("flows").set(change).where("id", "=", id).execute();
}

async function changeStep(id: string, key: string, change: Partial<FlowStepRow>): Promise<void> {
  await t.store.updateTable("flow_steps").set(change).where("flow_id", "=", id).where("step_key", "=", key).execute();
}

/** A flow of two calls whose first one is held up. */
async function startHeld(): Promise<{ id: string; release: () => void; approved: Promise<unknown> }> {
  const { flow } = await start(t.flows, "chain");
  const { promise, resolve: release } = Promise.withResolvers<void>();
  t.lab.next.push(promise);
  const approved = t.flows.approve(accountId, flow.id, by);
  await waitFor(t.flows, flow.id, () => t.lab.ran.includes("put:one"));
  return { id: flow.id, release, approved };
}

describe("cancel", () => {
  test("ends a flow that goes on to its next step meanwhile", async () => {
    const { id, release, approved } = await startHeld();
    meanwhile.push(() => changeFlow(id, { current_step: "report" }));
    expect((await t.flows.cancel(accountId, id)).flow.status).toBe("cancelled");
    release();
    await approved;
    expect((await t.flows.get(accountId, id)).flow.status).toBe("cancelled");
  });

  test("does not call a step skipped that ended meanwhile", async () => {
    const { id, release, approved } = await startHeld();
    meanwhile.push(() => changeStep(id, "put", { status: "completed", output: '{"done":1}' }));
    const cancelled = await t.flows.cancel(accountId, id);
    expect(cancelled.flow.status).toBe("cancelled");
    expect(listSteps(cancelled).slice(-2)).toEqual(["put:completed:1", "report:skipped:0"]);
    expect(cancelled.steps[3]?.error).toBeNull();
    release();
    await approved;
  });

  test("says that the flow has ended meanwhile", async () => {
    const { id, release, approved } = await startHeld();
    meanwhile.push(() => changeFlow(id, { status: "completed" }));
    const refusal = { status: 409, message: "The flow is completed." };
    await expect(t.flows.cancel(accountId, id)).rejects.toMatchObject(refusal);
    release();
    await approved;
  });

  test("gives up on a flow that never keeps still", async () => {
    const { id, release, approved } = await startHeld();
    meanwhile = Array.from({ length: 50 }, (_, index) => () => changeFlow(id, { current_step: `step_${index}` }));
    const refusal = { status: 409, message: "The flow changes all the time: try again." };
    await expect(t.flows.cancel(accountId, id)).rejects.toMatchObject(refusal);
    expect(meanwhile.length).toBeGreaterThan(0);
    meanwhile = [];
    release();
    await approved;
  });
});

test("an approval is answered at once when the flow is cancelled, however long its step takes", async () => {
  const slow = await openTestFlows({
    settleMs: 600_000,
    onEnd: (cleanUp) => cleanUps.push(cleanUp),
  });
  const { flow } = await start(slow.flows, "chain");
  const { promise, resolve: release } = Promise.withResolvers<void>();
  slow.lab.next.push(promise);
  try {
    const approved = slow.flows.approve(accountId, flow.id, by);
    await waitFor(slow.flows, flow.id, () => slow.lab.ran.includes("put:one"));
    await slow.flows.cancel(accountId, flow.id);
    expect((await approved).flow.status).toBe("cancelled");
  } finally {
    release();
  }
});

describe("approve", () => {
  test("says what became of a flow that somebody cancelled meanwhile", async () => {
    const { flow } = await start(t.flows, "chain");
    meanwhile.push(() => changeFlow(flow.id, { status: "cancelled" }));
    const refusal = { status: 409, message: "Nothing waits for an approval. The flow is cancelled." };
    await expect(t.flows.approve(accountId, flow.id, by)).rejects.toMatchObject(refusal);
    expect(t.lab.ran).toEqual(["look:things"]);
  });

  test("does not approve another step, which has come to wait meanwhile", async () => {
    const { flow } = await start(t.flows, "careful");
    meanwhile.push(async () => {
      await changeFlow(flow.id, { segment: 2, current_step: "put" });
      await changeStep(flow.id, "approve", { status: "completed" });
      await changeStep(flow.id, "set", { status: "completed" });
      await changeStep(flow.id, "put", { status: "waiting", step_type: "approval" });
    });
    const refusal = { status: 409, message: '"approve" does not wait for an approval: "put" does.' };
    await expect(t.flows.approve(accountId, flow.id, by)).rejects.toMatchObject(refusal);
    expect(t.lab.ran).toEqual([]);
  });
});

describe("resume", () => {
  test("does not make a write again that failed only meanwhile", async () => {
    const { flow } = await start(t.flows, "bold");
    expect(flow.status).toBe("failed");
    meanwhile.push(() => changeFlow(flow.id, { segment: 2 }));
    const refusal = {
      status: 409,
      message: expect.stringMatching(/^Somebody else was faster\. The flow failed at "put"/),
    };
    await expect(t.flows.resume(accountId, flow.id)).rejects.toMatchObject(refusal);
  });

  test("does not try again what failed since the page was opened", async () => {
    const { flow } = await start(t.flows, "bold");
    await t.flows.resume(accountId, flow.id, { attempt: "put:1" });
    const refusal = { status: 409, message: expect.stringMatching(/^Somebody else was faster/) };
    await expect(t.flows.resume(accountId, flow.id, { attempt: "put:1" })).rejects.toMatchObject(refusal);
    const { steps } = await t.flows.resume(accountId, flow.id, { attempt: "put:2" });
    expect(steps[0]?.attemptCount).toBe(3);
  });

  test("says what became of a flow that somebody else resumed meanwhile", async () => {
    const { flow } = await start(t.flows, "bold");
    meanwhile.push(() => t.flows.resume(accountId, flow.id));
    await expect(t.flows.resume(accountId, flow.id)).rejects.toMatchObject({ status: 409 });
    expect((await t.flows.get(accountId, flow.id)).steps[0]?.attemptCount).toBe(2);
  });
});
