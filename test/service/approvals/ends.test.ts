import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { call, execute } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { decideHeld } from "./owner.ts";

/** How the wait of a call, its yes and its result come to an end. */

let lab: Lab;
let service: TestService;
let clock: number;

beforeEach(async () => {
  lab = createLab();
  clock = Date.parse("2026-11-25T12:00:00Z");
  service = await startTestService({
    integrations: [lab.integration],
    approvals: "owner",
    heartbeatMs: 50,
    now: () => clock,
  });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterEach(async () => {
  lab.release();
  await service.close();
});

const send = (tool: string, args: object, headers: Record<string, string> = {}) =>
  call(`${service.url}/api/tools/${tool}/execute`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify({ arguments: args }),
  });
const ask = async (title: string, headers?: Record<string, string>): Promise<string> =>
  (await send("lab_put", { title }, headers)).json.error.approval.id;
const read = async (id: string) => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;
const statusOf = async (id: string): Promise<string> => (await read(id)).approval.status;
async function addRule(rule: { effect: "allow" | "block"; level?: "delete" }) {
  const rules = await openRules(service);
  await rules.add({ tool: "lab_put", ...rule }, "Ana");
  await rules.close();
}

test("a yes that expires while its call waits for its turn runs nothing", async () => {
  const slow = (await execute(service, "lab_wait", {})).json.error.approval.id;
  const behind = await ask("Milk");
  await decideHeld(service, slow, "approve");
  await lab.waiting;
  await decideHeld(service, behind, "approve");
  clock += 25 * 60 * 60_000;
  lab.release();
  await expect.poll(() => statusOf(behind)).toBe("void");
  expect((await read(behind)).approval.reason).toContain("expired before the call started");
  expect(lab.ran).toEqual(["wait"]);
});

test("a result is handed out for seven days", async () => {
  const id = await ask("Milk");
  await decideHeld(service, id, "approve");
  await expect.poll(() => statusOf(id)).toBe("done");
  clock += 6 * 24 * 60 * 60_000;
  expect((await read(id)).result).toMatchObject({ result: { stored: "Milk" } });
  clock += 2 * 24 * 60 * 60_000;
  expect(await read(id)).toMatchObject({ approval: { status: "done" }, result: null });
});

test("a call that a rule frees is found under the key with which it was asked", async () => {
  const id = await ask("Milk", { "idempotency-key": "once" });
  await addRule({ effect: "allow" });
  expect((await send("lab_put", { title: "Milk" })).status).toBe(200);
  expect(await statusOf(id)).toBe("done");
  const found = await call(`${service.url}/api/executions?idempotency_key=once`, { key: service.apiKey });
  expect([found.status, found.json.status]).toEqual([200, "succeeded"]);
});

test("a rule that blocks deleting reaches a call whose arguments delete, and leaves others", async () => {
  Object.assign(lab.integration.actions.find(({ id }) => id === "put") ?? {}, {
    judge: async ({ title }: { title: string }) =>
      title === "All" ? { level: "delete", says: "empties it" } : undefined,
  });
  const [all, one] = [await ask("All"), await ask("One")];
  await addRule({ effect: "block", level: "delete" });
  await expect.poll(() => statusOf(all)).toBe("declined");
  expect(await statusOf(one)).toBe("pending");
});
