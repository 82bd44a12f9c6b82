import type { KyselyPlugin } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { by, listSteps, openTestFlows, principal, start, type TestFlows, waitFor } from "./flow-lab.ts";

const { accountId } = principal;
let cleanUps: (() => Promise<unknown>)[];
beforeEach(() => {
  cleanUps = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

function open(options: Pick<Parameters<typeof openTestFlows>[0], "look"> = {}) {
  return openTestFlows({ ...options, onEnd: (cleanUp) => cleanUps.push(cleanUp) });
}

/**
 * Leaves a process in the middle of a call, as a crash does: it never hears of its end. Returns what ends the call, for a
 * process that turns out not to be dead.
 */
async function dieDuring(t: TestFlows, name: string, begin: () => Promise<unknown>): Promise<() => void> {
  const hold = Promise.withResolvers<void>();
  t.lab.next.push(hold.promise);
  const begun = begin();
  cleanUps.push(() => begun);
  cleanUps.push(async () => hold.resolve());
  while (t.lab.ran.at(-1) !== name) await new Promise((resolve) => setTimeout(resolve, 5));
  return hold.resolve;
}

async function findOnly({ store }: TestFlows): Promise<string> {
  const { id } = await store.selectFrom("flows").select("id").executeTakeFirstOrThrow();
  return id;
}

describe("a process that dies in the middle of a call", () => {
  test("a read is made again, as the same attempt", async () => {
    const t = await open();
    await dieDuring(t, "look:things", () => start(t.flows, "chain"));
    const flows = await t.open();
    const view = await waitFor(flows, await findOnly(t), ({ flow }) => flow.status === "waiting");
    expect(view.steps[0]).toMatchObject({ status: "completed", attemptCount: 1 });
    expect(t.lab.ran).toEqual(["look:things", "look:things"]);
  });

  test("a write is not made again: the step fails as unknown, and resuming it is the human's decision", async () => {
    const t = await open();
    const { flow } = await start(t.flows, "chain", { titles: ["a", "b"] });
    const finish = await dieDuring(t, "put:a", () => t.flows.approve(accountId, flow.id, by));
    const flows = await t.open();
    const failed = await waitFor(flows, flow.id, (view) => view.flow.status === "failed");
    expect(failed.steps[3]).toMatchObject({
      status: "failed",
      attemptCount: 1,
      error: {
        code: "outcome_unknown",
        message: expect.stringContaining('"a"'),
        hint: expect.stringMatching(/Resuming the flow makes the call again/),
        executionId: expect.stringMatching(/^exe_/),
      },
    });
    expect(t.lab.ran).toEqual(["look:things", "put:a"]);

    const done = await flows.resume(accountId, flow.id);
    expect(done.flow.status).toBe("completed");
    expect(done.steps[3]).toMatchObject({ attemptCount: 2, output: { done: 2 } });
    expect(t.lab.ran).toEqual(["look:things", "put:a", "put:a", "put:b"]);

    finish();
    await t.flows.close();
    expect((await flows.get(accountId, flow.id)).flow.status).toBe("completed");
    expect(t.lab.ran).toHaveLength(4);
  });

  test("an idempotent write is made again without asking", async () => {
    const t = await open();
    const { flow } = await start(t.flows, "careful");
    await dieDuring(t, "set:state", () => t.flows.approve(accountId, flow.id, by));
    const flows = await t.open();
    const done = await waitFor(flows, flow.id, (view) => view.flow.status === "completed");
    expect(listSteps(done)).toEqual(["approve:completed:1", "set:completed:1", "put:completed:1"]);
    expect(t.lab.ran).toEqual(["set:state", "set:state", "put:findable"]);
  });

  test("a write that can be looked for is made again when it is not there, and a human resumes", async () => {
    const t = await open();
    const { flow } = await start(t.flows, "careful");
    t.lab.next.push(Promise.resolve());
    await dieDuring(t, "put:findable", () => t.flows.approve(accountId, flow.id, by));
    const flows = await t.open();
    const failed = await waitFor(flows, flow.id, (view) => view.flow.status === "failed");
    expect(failed.steps[2]?.error).toMatchObject({ code: "outcome_unknown", hint: expect.stringMatching(/looks for/) });
    const done = await flows.resume(accountId, flow.id);
    expect(done.flow.status).toBe("completed");
    expect(t.lab.ran.slice(1)).toEqual(["put:findable", "look:was it put?", "look:was it put?", "put:findable"]);
  });

  test("what took effect before the process died is adopted", async () => {
    const t = await open();
    const { flow } = await start(t.flows, "careful");
    const done = await t.flows.approve(accountId, flow.id, by);
    expect(done.flow.status).toBe("completed");
    // The crash came after the provider acted and before anybody wrote that down.
    const doubt = { code: "outcome_unknown", message: "?" };
    await t.store
      .updateTable("executions")
      .set({ status: "started", output: null, finished_at: null })
      .where("tool_name", "=", "lab_put")
      .execute();
    await t.store
      .updateTable("flow_steps")
      .set({ status: "failed", output: null, error: JSON.stringify(doubt) })
      .where("step_key", "=", "put")
      .execute();
    await t.store.updateTable("flows").set({ status: "failed", completed_at: null, current_step: "put" }).execute();
    const resumed = await t.flows.resume(accountId, flow.id);
    expect(resumed.flow.status).toBe("completed");
    expect(resumed.steps[2]).toMatchObject({ attemptCount: 2, output: { results: [{ title: "findable" }] } });
    expect(t.lab.ran).toEqual(["set:state", "put:findable", "look:was it put?"]);
  });
});

describe("a store that fails", () => {
  let isBroken: boolean;
  let failed: Promise<void>;
  let t: TestFlows;
  beforeEach(async () => {
    isBroken = true;
    const seen = Promise.withResolvers<void>();
    failed = seen.promise;
    const refuseClaims: KyselyPlugin = {
      transformQuery({ node }) {
        const isClaim = node.kind === "UpdateQueryNode" && JSON.stringify(node).includes('"running"');
        if (!isClaim || !isBroken) return node;
        seen.resolve();
        throw new Error("disk full");
      },
      transformResult: async ({ result }) => result,
    };
    t = await open({ look: (store) => store.withPlugin(refuseClaims) });
  });

  test("keeps the flow pending; it runs when the store works again", async () => {
    const { flow } = await start(t.flows, "chain");
    await failed;
    expect(flow).toMatchObject({ status: "pending", currentStep: "read" });
    expect(t.lab.ran).toEqual([]);
    isBroken = false;
    const view = await waitFor(t.flows, flow.id, (one) => one.flow.status === "waiting");
    expect(listSteps(view)[0]).toBe("read:completed:1");
    expect(t.lab.ran).toEqual(["look:things"]);
  });

  test("a pending flow can be cancelled and never runs", async () => {
    const { flow } = await start(t.flows, "chain");
    expect((await t.flows.cancel(accountId, flow.id)).flow.status).toBe("cancelled");
    isBroken = false;
    await t.flows.sweep();
    const other = await start(t.flows, "later");
    expect(other.flow.status).toBe("completed");
    expect(t.lab.ran).toEqual(["look:late"]);
  });
});

test("a flow that nobody runs is run by the next sweep, once", async () => {
  const t = await open();
  const { flow } = await start(t.flows, "later", { seconds: 60 });
  await t.store.updateTable("flow_steps").set({ status: "completed" }).where("step_key", "=", "wait").execute();
  await t.store.updateTable("flows").set({ status: "running", wake_at: null }).where("id", "=", flow.id).execute();
  await Promise.all([t.flows.sweep(), t.flows.sweep()]);
  await waitFor(t.flows, flow.id, (view) => view.flow.status === "completed");
  expect(t.lab.ran).toEqual(["look:late"]);
});
