import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { createShelf, type Shelf } from "../executions/shelf-app.ts";
import { openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { decideHeld } from "./owner.ts";

/** What the owner is shown of a held call is what it may do. */

let shelf: Shelf;
let service: TestService;

beforeEach(async () => {
  shelf = createShelf();
  service = await startTestService({ integrations: [shelf.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "shelf", label: "Mine", settings: {} });
});
afterEach(() => service.close());

const ask = () => execute(service, "shelf_fill", { arguments: { with: "pears" }, confirmed: true });
const hold = async (): Promise<string> => (await ask()).json.error.approval.id;

async function readEnd(id: string) {
  for (let round = 0; ; round += 1) {
    const { json } = await call(`${service.url}/api/approvals/${id}?wait=10`, { key: service.apiKey });
    if (!["pending", "approved", "running"].includes(json.approval.status) || round > 20) return json;
  }
}

test("the refusal of a held call has the preview, and the call runs in the state that was shown", async () => {
  const { json } = await ask();
  expect(json.error.preview.summary).toBe("Put pears into the box, in place of apples");
  const { id } = json.error.approval;
  await decideHeld(service, id, "approve");
  expect(await readEnd(id)).toMatchObject({ approval: { status: "done" }, result: { ok: true } });
  expect(shelf.content).toBe("pears");
});

test("a call that cannot work waits for nobody", async () => {
  shelf.content = undefined;
  const { status, json } = await ask();
  expect([status, json.error.code, json.error.approval]).toEqual([404, "not_found", undefined]);
  expect((await call(`${service.url}/api/approvals`, { key: service.apiKey })).json.approvals).toEqual([]);
});

test("a late yes runs nothing once the box was changed, and the call can be looked at again", async () => {
  const id = await hold();
  shelf.content = "plums";
  await decideHeld(service, id, "approve");
  const { approval } = await readEnd(id);
  expect(approval).toMatchObject({ status: "void", reason: expect.stringContaining("changed after this was asked") });
  expect(shelf.content).toBe("plums");

  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const url = `${service.url}/inbox/${id}`;
  const page = await browser.open(url);
  expect(page.text).toContain("Look at it as it is now");
  const again = await browser.submit(url, { csrf: readCsrf(page), decision: "look" });
  const next = /\/inbox\/(apr_\w+)/.exec(String(again.headers.location ?? again.text))?.[1] ?? "";
  expect(next).not.toBe(id);
  await decideHeld(service, next, "approve");
  expect(await readEnd(next)).toMatchObject({ approval: { status: "done" } });
  expect(shelf.content).toBe("pears");
});

test("looking again at a call that cannot run any more says why", async () => {
  const id = await hold();
  shelf.content = "plums";
  await decideHeld(service, id, "approve");
  await readEnd(id);
  shelf.content = undefined;
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  const url = `${service.url}/inbox/${id}`;
  const again = await browser.submit(url, { csrf: readCsrf(await browser.open(url)), decision: "look" });
  expect(again.text).toContain("There is no box.");
});

test("the same call joins the one that waits, also when what it acts on has changed", async () => {
  const id = await hold();
  shelf.content = "plums";
  expect(await hold()).toBe(id);
});

test("a call that is sent again under its key after it ran is not asked about again", async () => {
  const send = () =>
    call(`${service.url}/api/tools/shelf_fill/execute`, {
      method: "POST",
      key: service.apiKey,
      headers: { "content-type": "application/json", "idempotency-key": "one" },
      body: JSON.stringify({ arguments: { with: "pears" }, confirmed: true }),
    });
  const { id } = (await send()).json.error.approval;
  await decideHeld(service, id, "approve");
  await readEnd(id);
  expect((await send()).json.error.approval).toMatchObject({ id, status: "done" });
});

test("the owner is told that the present state could not be read", async () => {
  shelf.look = "fails";
  const { json } = await ask();
  expect(json.error).toMatchObject({ code: "confirmation_required", preview_failed: true });
  shelf.look = "sees";
  await decideHeld(service, json.error.approval.id, "approve");
  expect(await readEnd(json.error.approval.id)).toMatchObject({ approval: { status: "done" } });
});
