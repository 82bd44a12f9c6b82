import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { chooseEngine } from "../../../src/service/flows/engines/choose-engine.ts";
import type { FlowEngine, OpenEngine } from "../../../src/service/flows/engines/flow-engine.ts";
import { by, listSteps, openTestFlows, principal, start, type TestFlows, waitFor } from "./flow-lab.ts";

const { accountId } = principal;
let cleanUps: (() => Promise<unknown>)[];
beforeEach(() => {
  cleanUps = [];
});
afterEach(async () => {
  for (const cleanUp of cleanUps.reverse()) await cleanUp();
});

function open(
  createEngine: (dataDir: string) => OpenEngine = (dataDir) => chooseEngine({ dataDir }),
  settleMs = 10_000,
) {
  return openTestFlows({ createEngine, settleMs, onEnd: (cleanUp) => cleanUps.push(cleanUp) });
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

describe("an engine that does not work", () => {
  test("keeps the flow pending; it runs when the engine works again", async () => {
    const faults = [new Error("disk full"), new Error("disk full")];
    const t = await open((dataDir) => async (options) => {
      const fault = faults.pop();
      if (fault !== undefined) throw fault;
      return chooseEngine({ dataDir })(options);
    });
    const { flow } = await start(t.flows, "chain");
    expect(flow).toMatchObject({ status: "pending", currentStep: "read" });
    expect(t.lab.ran).toEqual([]);
    const view = await waitFor(t.flows, flow.id, (one) => one.flow.status === "waiting");
    expect(listSteps(view)[0]).toBe("read:completed:1");
  });

  test("a segment that it took and lost is given to it again", async () => {
    const lost: string[] = [];
    const t = await open(
      (dataDir) => async (options) => {
        const engine = await chooseEngine({ dataDir })(options);
        const start: FlowEngine["start"] = async (key, input) => {
          if (lost.length === 0) lost.push(key);
          else await engine.start(key, input);
        };
        return { ...engine, start };
      },
      100,
    );
    const { flow } = await start(t.flows, "chain");
    expect(flow.status).toBe("pending");
    await t.flows.sweep();
    expect((await t.flows.get(accountId, flow.id)).flow.status).toBe("pending");
    const later = performance.now() + 10_001;
    vi.spyOn(performance, "now").mockImplementation(() => later);
    cleanUps.push(async () => vi.restoreAllMocks());
    await t.flows.sweep();
    await waitFor(t.flows, flow.id, (view) => view.flow.status === "waiting");
    expect(t.lab.ran).toEqual(["look:things"]);
  });

  test("a pending flow can be cancelled and never runs", async () => {
    let isBroken = true;
    const t = await open((dataDir) => async (options) => {
      if (isBroken) throw new Error("disk full");
      return chooseEngine({ dataDir })(options);
    });
    const { flow } = await start(t.flows, "chain");
    expect((await t.flows.cancel(accountId, flow.id)).flow.status).toBe("cancelled");
    isBroken = false;
    await t.flows.sweep();
    const other = await start(t.flows, "later");
    expect(other.flow.status).toBe("completed");
    expect(t.lab.ran).toEqual(["look:late"]);
  });

  test.each([
    ["lost", (file: string) => rm(file), []],
    [
      "damaged",
      (file: string) => writeFile(file, "not a database at all".repeat(500)),
      [expect.stringMatching(/flows\.db\.damaged\.$/)],
    ],
  ])("a file that is %s loses no flow", async (_what, spoil, said) => {
    let folder = "";
    const t = await open((dataDir) => {
      folder = dataDir;
      return chooseEngine({ dataDir });
    });
    const waiting = await start(t.flows, "chain");
    const running = await start(t.flows, "later", { seconds: 60 });
    await t.flows.close();
    // As if it had been running.
    await t.store
      .updateTable("flows")
      .set({ status: "running", wake_at: null })
      .where("id", "=", running.flow.id)
      .execute();
    await t.store.updateTable("flow_steps").set({ status: "completed" }).where("step_key", "=", "wait").execute();
    for (const suffix of ["-wal", "-shm"]) await rm(join(folder, `flows.db${suffix}`), { force: true });
    await spoil(join(folder, "flows.db"));
    const flows = await t.open();
    await waitFor(flows, running.flow.id, ({ flow }) => flow.status === "completed");
    expect(t.lab.errors).toEqual(said);
    expect((await flows.approve(accountId, waiting.flow.id, by)).flow.status).toBe("completed");
  });
});

test("no engine is opened before a flow needs one", async () => {
  let opened = 0;
  const engine = (dataDir: string): OpenEngine => {
    return async (options): Promise<FlowEngine> => {
      opened++;
      return chooseEngine({ dataDir })(options);
    };
  };
  const t = await open(engine);
  await t.flows.sweep();
  await t.flows.list(accountId, 30);
  expect(opened).toBe(0);
  await start(t.flows, "chain");
  await start(t.flows, "chain");
  expect(opened).toBe(1);
});
