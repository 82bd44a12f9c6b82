import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { decideHeld } from "./owner.ts";

/** What a yes was given for is no longer there, or whoever asks is somebody else: nothing runs, and nothing is told. */

let lab: Lab;
let service: TestService;

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterEach(() => service.close());

async function hold(key = service.apiKey): Promise<string> {
  const body = { arguments: { title: "Milk" }, confirmed: true };
  const held = await execute({ ...service, apiKey: key }, "lab_put", body);
  return held.json.error.approval.id;
}

const read = (id: string, { key = service.apiKey, wait = 0 } = {}) =>
  call(`${service.url}/api/approvals/${id}?wait=${wait}`, { key });

async function readEnd(id: string) {
  for (let round = 0; ; round += 1) {
    const { json } = await read(id, { wait: 10 });
    if (!["pending", "approved", "running"].includes(json.approval.status) || round > 20) return json.approval;
  }
}

test.each([
  ["what it says it does", { description: "Stores an item, and tells everybody." }],
  ["its title", { title: "Store and publish" }],
  ["its arguments", { inputSchema: { type: "object", properties: { title: { type: "string" }, to: {} } } }],
] as const)("nothing runs when the action has changed: %s", async (_, change) => {
  const id = await hold();
  const action = lab.integration.actions.find((one) => one.id === "put");
  Object.assign(action ?? {}, change);
  await decideHeld(service, id, "approve");
  expect(await readEnd(id)).toMatchObject({ status: "void", reason: expect.stringContaining("action changed") });
  expect(lab.ran).toEqual([]);
});

test("nothing runs when the key of the device that asked was revoked", async () => {
  const key = await service.createKey("Laptop");
  const id = await hold(key);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const page = await browser.open(`${service.url}/devices`);
  const action = /action="([^"]+\/revoke)"[\s\S]{0,400}Revoke Laptop/.exec(page.text)?.[1] ?? "";
  await browser.submit(service.url + action.replace(/^\/s\/[\w-]+/, ""), { csrf: readCsrf(page) });
  expect((await read(id, { key })).status).toBe(401);
  await decideHeld(service, id, "approve");
  const isEnded = async () =>
    expect((await browser.open(`${service.url}/inbox/${id}`)).text).toContain("has lost its access");
  await vi.waitFor(isEnded, { timeout: 30_000, interval: 100 });
  expect(lab.ran).toEqual([]);
});

test("another key can neither read nor withdraw a request", async () => {
  const id = await hold();
  const key = await service.createKey("Another");
  expect((await read(id, { key })).status).toBe(404);
  const cancelled = await call(`${service.url}/api/approvals/${id}/cancel`, { method: "POST", key });
  expect(cancelled.status).toBe(404);
  expect((await read(id)).json.approval.status).toBe("pending");
  const listed = await call(`${service.url}/api/approvals?status=pending`, { key });
  expect(listed.json).toEqual({ approvals: [] });
});
