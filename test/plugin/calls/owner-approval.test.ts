import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createToolSession, type SessionEvent, type ToolSession } from "../../../src/index.ts";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { changeLimits, without } from "../../service/access/limits-page.ts";
import { openRules } from "../../service/access/open-rules.ts";
import { decideHeld } from "../../service/approvals/owner.ts";
import { openBrowser, readCsrf } from "../../service/http/pages/browser.ts";
import { closeAll, makeFolder } from "./open-test-session.ts";

/** Calls that the service holds for its owner, seen from the plugin. */

let service: TestService;
let folder: string;
let waiting: string[];
const sessions: ToolSession[] = [];

beforeEach(async () => {
  service = await startTestService({ approvals: "owner" });
  folder = await makeFolder();
  await mkdir(join(folder, "media/inbound"), { recursive: true });
  await writeFile(join(folder, "media/inbound/hello.txt"), "hello\n");
  waiting = [];
});
afterEach(async () => {
  for (const session of sessions.splice(0)) await session.close();
  await service.close();
  await closeAll();
});

/** `onWait` is told the id of each approval that a call waits for. */
async function openSession(more: object = {}, onWait: (id: string) => unknown = () => undefined) {
  const session = await createToolSession({
    baseUrl: service.url,
    apiKey: service.apiKey,
    mediaRoots: [join(folder, "media")],
    stateDir: join(folder, "state"),
    approve: "owner",
    onEvent: (event: SessionEvent) => {
      if (event.type !== "awaiting_owner") return;
      waiting.push(event.approvalId);
      expect(event.url === undefined || event.url === `${service.url}/inbox/${event.approvalId}`).toBe(true);
      void onWait(event.approvalId);
    },
    ...more,
  });
  sessions.push(session);
  await session.catalog.load();
  return session;
}

const upload = {
  callId: "1",
  toolName: "drive_upload_file",
  arguments: { file: { s3key: "media://inbound/hello.txt" }, folder: "Letters" },
};

test("an upload waits for the owner, runs once with the bytes that they saw, and its result is the call's", async () => {
  const session = await openSession({}, (id) => decideHeld(service, id, "approve"));
  const outcome = await session.call(upload);
  expect(outcome).toMatchObject({ status: "succeeded", result: { path: "Letters/hello.txt" } });
  expect(await readFile(join(service.dataDir, "drive/Letters/hello.txt"), "utf8")).toBe("hello\n");
  expect(await service.effects()).toHaveLength(1);
  expect(waiting).toHaveLength(1);
});

test("nobody is asked twice: an approver of the device is left out where the service holds the call", async () => {
  let asked = 0;
  const approve = async ({ id, fingerprint }: { id: string; fingerprint: string }) => {
    asked += 1;
    return { type: "approve" as const, id, fingerprint };
  };
  const session = await openSession({ approve }, (id) => decideHeld(service, id, "approve"));
  const create = { callId: "2", toolName: "notes_create_page", arguments: { title: "Milk", body: "2 l" } };
  expect(await session.prepare(create)).toMatchObject({ kind: "none" });
  expect((await session.call(create)).status).toBe("succeeded");
  expect(asked).toBe(0);
});

test("a device that already knows its tools asks nobody once the owner approves its calls", async () => {
  await service.close();
  service = await startTestService();
  let asked = 0;
  const approve = async ({ id, fingerprint }: { id: string; fingerprint: string }) => {
    asked += 1;
    return { type: "approve" as const, id, fingerprint };
  };
  const apiKey = await service.createKey("Laptop");
  const session = await openSession({ apiKey, approve }, (id) => decideHeld(service, id, "approve"));
  const create = (title: string) => ({
    callId: title,
    toolName: "notes_create_page",
    arguments: { title, body: "2 l" },
  });
  expect((await session.call(create("Milk"))).status).toBe("succeeded");
  expect(asked).toBe(1);
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  await changeLimits(browser, service, (fields) => [...without(fields, "approvals"), ["approvals", "owner"]]);
  expect(await session.prepare(create("Bread"))).toMatchObject({ kind: "none" });
  expect((await session.call(create("Bread"))).status).toBe("succeeded");
  expect([asked, waiting.length]).toEqual([1, 1]);
});

test("the model is told that the owner changed the arguments, and what ran", async () => {
  const session = await openSession({}, async (id) => {
    const browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const page = await browser.open(`${service.url}/inbox/${id}?edit=1`);
    const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(page.text)?.[1] ?? "";
    const typed = JSON.stringify({ title: "Milk", body: "2 bottles" });
    await browser.submit(`${service.url}/inbox/${id}`, {
      csrf: readCsrf(page),
      fingerprint,
      decision: "edit",
      arguments: typed,
    });
  });
  const asked = { callId: "n", toolName: "notes_create_page", arguments: { title: "Mlik", body: "1 bottle" } };
  const outcome = await session.call(asked);
  expect(outcome.status).toBe("succeeded");
  expect(outcome.notes.join()).toContain(
    'the owner changed the arguments of this call before it ran; it ran with: {"title":"Milk","body":"2 bottles"}',
  );
  expect((await service.effects()).map(({ arguments: args }) => args)).toMatchObject([{ title: "Milk" }]);
});

test("the owner's no ends the call with their reason", async () => {
  const session = await openSession({}, (id) => decideHeld(service, id, "decline", { reason: "Not today." }));
  const outcome = await session.call(upload);
  expect(outcome).toMatchObject({ status: "declined", message: expect.stringContaining("Not today.") });
  expect(await service.effects()).toEqual([]);
});

test("a call that waited too long goes on in another process, and gets the result of the one run", async () => {
  const first = await openSession({ approvalTtlMs: 50 });
  expect(await first.call(upload)).toMatchObject({
    status: "needs_approval",
    code: "awaiting_owner",
    message: expect.stringContaining(`${service.url}/inbox/`),
  });
  const [id = ""] = waiting;
  await decideHeld(service, id, "approve");
  const second = await openSession();
  expect(await second.call(upload)).toMatchObject({ status: "succeeded", result: { path: "Letters/hello.txt" } });
  expect(new Set(waiting)).toEqual(new Set([id]));
  expect(await service.effects()).toHaveLength(1);
});

test("an aborted call withdraws its request", async () => {
  const controller = new AbortController();
  const session = await openSession({}, () => controller.abort());
  await expect(session.call({ ...upload, signal: controller.signal })).rejects.toThrow();
  const [id = ""] = waiting;
  await expect
    .poll(async () => (await session.client.getApproval(id)).approval.status, { timeout: 10_000 })
    .toBe("cancelled");
  expect(await service.effects()).toEqual([]);
});

test("where the service leaves approvals to devices, nothing runs without an approver", async () => {
  await service.close();
  service = await startTestService();
  const session = await openSession();
  expect(await session.call(upload)).toMatchObject({ status: "needs_approval", code: "approval_required" });
  expect(await service.effects()).toEqual([]);
});

test("rules of the owner: a read waits that they want to be asked about, an allowed write does not, a blocked one ends", async () => {
  const rules = await openRules(service);
  const session = await openSession({}, (id) => decideHeld(service, id, "approve"));
  const search = { toolName: "notes_search", arguments: { query: "Milk" } };
  const create = { toolName: "notes_create_page", arguments: { title: "Milk", body: "2 l" } };
  try {
    await rules.add({ effect: "ask", tool: "notes_search" }, "test");
    await rules.add({ effect: "allow", tool: "notes_create_page" }, "test");
    expect((await session.call({ callId: "r1", ...create })).status).toBe("succeeded");
    expect(waiting).toEqual([]);
    expect((await session.call({ callId: "r2", ...search })).status).toBe("succeeded");
    expect(waiting).toHaveLength(1);
    await rules.add({ effect: "block", tool: "notes/*" }, "test");
    expect(await session.call({ callId: "r3", ...create })).toMatchObject({
      status: "failed",
      code: "blocked_by_rule",
      message: expect.stringContaining("does not allow"),
      hint: expect.stringContaining("Only the owner"),
    });
  } finally {
    await rules.close();
  }
});

test("a device that asks its own human still does where the owner allows a write, and about a read where they want it", async () => {
  const device = await startTestService();
  const rules = await openRules(device);
  const asked: string[] = [];
  const approve = async ({ id, fingerprint, tool }: { id: string; fingerprint: string; tool: string }) => {
    asked.push(tool);
    return { type: "approve" as const, id, fingerprint };
  };
  const session = await openSession({ baseUrl: device.url, apiKey: device.apiKey, approve });
  try {
    await rules.add({ effect: "allow", tool: "notes_create_page" }, "test");
    await rules.add({ effect: "ask", tool: "notes_search" }, "test");
    const create = { callId: "d1", toolName: "notes_create_page", arguments: { title: "Milk", body: "2 l" } };
    const search = { callId: "d2", toolName: "notes_search", arguments: { query: "Milk" } };
    expect((await session.call(create)).status).toBe("succeeded");
    expect((await session.call(search)).status).toBe("succeeded");
    expect(asked).toEqual(["notes_create_page", "notes_search"]);
  } finally {
    await rules.close();
    await session.close();
    await device.close();
  }
});
