import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { call, execute } from "../../http-calls.ts";
import { type Box, createBox } from "./box-app.ts";

let box: Box;
let service: TestService;
let later = 0;

async function start(slowMs?: number): Promise<void> {
  box = createBox(slowMs);
  later = 0;
  service = await startTestService({
    integrations: [box.integration],
    now: () => Date.now() + later,
    providerTimeoutMs: 300,
    heartbeatMs: 50,
  });
  await service.service.connections.add({ integration: "box", label: "Mine", settings: {} });
}
beforeEach(() => start());
afterEach(() => service.close());

const fill = (what = "pears") => execute(service, "box_fill", { arguments: { with: what }, confirmed: true });
const find = async (id: string) => (await call(`${service.url}/api/executions/${id}`, { key: service.apiKey })).json;

describe("a write whose answer was lost", () => {
  test("is a success where a look at once finds that it took effect, and can be undone", async () => {
    box.next = "loses_after";
    const { status, json } = await fill();
    expect([status, json.result.filled]).toEqual([200, "pears"]);
    expect(json.result.note).toContain("The service looked, and found that it took effect.");
    const id = json.canonical.execution_id;
    expect((await find(id)).status).toBe("succeeded");
    const undone = await execute(service, "box_undo", { arguments: { execution_id: id }, confirmed: true });
    expect(undone.json.ok).toBe(true);
    expect(box.content).toBe("apples");
  });

  test("stays unknown at first where nothing is to be seen, and is not done once its app can no longer be at it", async () => {
    box.next = "loses_before";
    const { json } = await fill();
    expect(json.canonical.outcome_unknown).toBe(true);
    const id = json.canonical.execution_id;
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect((await find(id)).outcome_unknown).toBe(true);
    later = 16_000;
    await expect.poll(async () => (await find(id)).message).toContain("it did not take effect");
    expect(await find(id)).toMatchObject({ status: "failed" });
    expect((await find(id)).outcome_unknown).toBeUndefined();
  });

  test("says why where nobody can know, and is not looked for again", async () => {
    [box.next, box.isDark] = ["loses_after", true];
    const id = (await fill()).json.canonical.execution_id;
    later = 16_000;
    await expect.poll(async () => (await find(id)).message).toContain("cannot be known: The box is closed.");
    box.isDark = false;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await find(id)).toMatchObject({ status: "failed", outcome_unknown: true });
  });
});

test("an app that is slower than its time limit is waited for before anything is said", async () => {
  await service.close();
  await start(2000);
  box.next = "slow";
  const { json } = await fill();
  expect(json.error.code).toBe("timeout");
  later = 60_000;
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect((await find(json.canonical.execution_id)).status).toBe("failed");
  expect((await find(json.canonical.execution_id)).message).not.toContain("did not take effect");
  await expect.poll(async () => (await find(json.canonical.execution_id)).status, { timeout: 5000 }).toBe("succeeded");
  expect(box.fills).toBe(1);
});
