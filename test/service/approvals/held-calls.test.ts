import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { createLab, type Lab } from "../lab-integration.ts";
import { decideHeld, pressOnPage } from "./owner.ts";

let lab: Lab;
let service: TestService;
let clock: number;

beforeEach(async () => {
  lab = createLab();
  clock = Date.parse("2026-11-25T12:00:00Z");
  service = await startTestService({ integrations: [lab.integration], approvals: "owner", now: () => clock });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
});
afterEach(() => service.close());

const put = (title: string, more: object = {}) =>
  execute(service, "lab_put", { arguments: { title }, confirmed: true, ...more });
const read = (id: string, query = "") => call(`${service.url}/api/approvals/${id}${query}`, { key: service.apiKey });

const decide = (id: string, decision: "approve" | "decline", fields = {}) => decideHeld(service, id, decision, fields);

test("a confirmation in the call counts for nothing, and the stored call runs once after the owner's yes", async () => {
  const refused = await put("Milk");
  expect(refused.status).toBe(412);
  expect(refused.json.error).toMatchObject({ code: "confirmation_required", approval: { status: "pending" } });
  const { id, url } = refused.json.error.approval;
  expect(url).toBe(`${service.url}/inbox/${id}`);
  expect((await read(id)).json).toMatchObject({ approval: { id, status: "pending" }, result: null });
  expect(lab.ran).toEqual([]);

  const { page, answer } = await decide(id, "approve");
  expect(page).toContain("Milk");
  expect(answer.headers.location).toContain("notice=approved");
  const done = await read(id, "?wait=10");
  const end = done.json.approval.status === "done" ? done : await read(id, "?wait=10");
  expect(end.json).toMatchObject({
    approval: { status: "done" },
    result: { ok: true, toolName: "lab_put", result: { stored: "Milk" } },
  });
  expect(lab.ran).toEqual(["put"]);
  await decide(id, "approve");
  expect(lab.ran).toEqual(["put"]);
});

test("a duplicate joins the pending request; after a decline it is answered with the decline for ten minutes", async () => {
  const [first, second] = [await put("Milk"), await put("Milk")];
  const { id } = first.json.error.approval;
  expect(second.json.error.approval.id).toBe(id);
  expect((await put("Bread")).json.error.approval.id).not.toBe(id);
  await decide(id, "decline", { reason: "Not on a Sunday." });
  const again = await put("Milk");
  expect(again.json.error).toMatchObject({ approval: { id, status: "declined" } });
  expect(again.json.error.message).toContain("Not on a Sunday.");
  expect((await read(id)).json.approval).toMatchObject({ status: "declined", reason: "Not on a Sunday." });
  clock += 11 * 60_000;
  expect((await put("Milk")).json.error.approval.id).not.toBe(id);
  expect(lab.ran).toEqual([]);
});

/** Sends one call with a key. */
const send = (key = "call-1") =>
  call(`${service.url}/api/tools/lab_put/execute`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json", "idempotency-key": key },
    body: JSON.stringify({ arguments: { title: "Milk" } }),
  });

test("with its key, a call is recognised behind any number of equal ones, run or waiting", async () => {
  const { id } = (await send()).json.error.approval;
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  for (let next = id, turn = 2; turn < 25; turn += 1) {
    await pressOnPage(browser, `${service.url}/inbox/${next}`, () => "approve");
    await expect.poll(async () => (await read(next)).json.approval.status).toBe("done");
    clock += 1000;
    next = (await send(`call-${turn}`)).json.error.approval.id;
  }
  expect((await send()).json.error.approval).toMatchObject({ id, status: "done" });
  expect(lab.ran).toHaveLength(23);
});

test("with its key, a call is recognised after its end: the result is found, and nothing runs again", async () => {
  const { id } = (await send()).json.error.approval;
  await decide(id, "approve");
  await expect.poll(async () => (await read(id)).json.approval.status).toBe("done");
  expect((await send()).json.error.approval).toMatchObject({ id, status: "done" });
  expect((await put("Milk")).json.error.approval.id).not.toBe(id);
  expect(lab.ran).toEqual(["put"]);
});

test("the canonical endpoint and its idempotency key", async () => {
  const body = {
    integration_id: "lab",
    action_id: "put",
    input: { title: "Milk" },
    confirm: true,
    idempotency_key: "k1",
  };
  const send = () =>
    call(`${service.url}/api/executions`, { method: "POST", key: service.apiKey, body: JSON.stringify(body) });
  const refused = await send();
  expect(refused.status).toBe(409);
  expect(refused.json).toMatchObject({ status: "blocked", error_code: "policy_blocked" });
  const { id, requested_at } = refused.json.approval;
  expect(Date.parse(requested_at)).toBe(clock);
  await decide(id, "approve");
  let end = await read(id, "?wait=10");
  while (end.json.approval.status !== "done") end = await read(id, "?wait=10");
  expect(end.json.result).toMatchObject({ status: "succeeded", output: { stored: "Milk" } });
  expect((await send()).json).toMatchObject({ status: "succeeded", execution_id: end.json.result.execution_id });
  expect(lab.ran).toEqual(["put"]);
});

test("nothing runs when it expired, was withdrawn, or its account or key changed", async () => {
  const ask = async (title: string) => (await put(title)).json.error.approval.id as string;
  const expired = await ask("expired");
  clock += 25 * 60 * 60_000;
  expect((await decide(expired, "approve")).answer.headers.location).toContain("notice=changed");
  expect((await read(expired)).json.approval.status).toBe("expired");

  const withdrawn = await ask("withdrawn");
  const cancel = () =>
    call(`${service.url}/api/approvals/${withdrawn}/cancel`, { method: "POST", key: service.apiKey });
  expect((await cancel()).json.approval.status).toBe("cancelled");
  expect((await cancel()).status).toBe(409);
  await decide(withdrawn, "approve");

  const changed = await ask("changed");
  const [connection] = await service.service.connections.list("lab");
  await service.service.connections.update(connection?.id ?? "", { settings: { other: "account" } });
  await decide(changed, "approve");
  const end = await read(changed, "?wait=10");
  const last = end.json.approval.status === "void" ? end : await read(changed, "?wait=10");
  expect(last.json.approval).toMatchObject({ status: "void", reason: expect.stringContaining("account") });
  expect(lab.ran).toEqual([]);
});

test("a read needs nobody, an invalid call asks nobody, and a foreign id is unknown", async () => {
  expect((await execute(service, "lab_look", { arguments: { text: "hello" } })).status).toBe(200);
  expect((await execute(service, "lab_put", { arguments: {}, confirmed: true })).status).toBe(400);
  expect((await read("apr_other")).status).toBe(404);
  const list = await call(`${service.url}/api/approvals?status=pending`, { key: service.apiKey });
  expect(list.json).toEqual({ approvals: [] });
});
