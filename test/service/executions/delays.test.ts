import { mkdir, readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openRules } from "../access/open-rules.ts";
import { decideHeld } from "../approvals/owner.ts";
import { openStoreOf } from "../find-store.ts";
import { type Browser, openBrowser, readCsrf } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";

/** Mails that wait for a moment after their yes, in which a human can stop them. */

const MAIL = { to: ["me@example.org"], subject: "Figures", body: "Hello" };

let service: TestService;
let account: string;

afterEach(() => service?.close());

/** A service with a mailbox in a folder; `delay` in seconds is that of the account. */
async function start(delay: unknown, o: Parameters<typeof startTestService>[0] = {}) {
  service = await startTestService(o);
  const maildir = join(service.dataDir, "box");
  await mkdir(maildir);
  const settings = { maildir, address: "me@example.org" };
  const sendDelay = delay === undefined ? {} : { sendDelay: delay };
  const connection = {
    integration: "mail",
    label: "Letters",
    settings: { ...settings, ...sendDelay },
    isDefault: true,
  };
  account = (await service.service.connections.add(connection)).id;
}

function send(args: object = {}, more: object = {}) {
  const request = { arguments: { ...MAIL, ...args }, connectionId: account, confirmed: true, ...more };
  return execute(service, "mail_send_message", request);
}

async function listSent(): Promise<string[]> {
  return readdir(join(service.dataDir, "box/.Sent/cur")).catch(() => []);
}

async function signIn(): Promise<Browser> {
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  return browser;
}

/** Id of the execution that waits, once there is one. */
async function findWaiting(browser: Browser): Promise<string> {
  for (;;) {
    const { text } = await browser.open(`${service.url}/log`);
    const [, id] = /<a href="\/log\/(exe_\w+)">[\s\S]*?Can be stopped/.exec(text) ?? [];
    if (id !== undefined) return id;
  }
}

const find = (id: string) => call(`${service.url}/api/executions/${id}`, { key: service.apiKey });
function undo(id: string, body: object = {}) {
  const headers = { "content-type": "application/json" };
  const options = { method: "POST", key: service.apiKey, headers, body: JSON.stringify(body) };
  return call(`${service.url}/api/executions/${id}/undo`, options);
}

describe("a mail with time to stop it", () => {
  test("says so before the yes, and is sent when the time is over", async () => {
    await start(1);
    const refused = await send({}, { confirmed: false });
    const { effects, undo: back } = refused.json.error.preview;
    const texts = effects.map(({ text }: { text: string }) => text).join(" ");
    expect(texts).toContain("It is sent 1 second after your yes. Until then you can stop it; after that it is final.");
    expect(back).toEqual({
      possible: false,
      why: "It can be stopped for 1 second.",
    });
    const begun = performance.now();
    expect((await send()).json.ok).toBe(true);
    expect(performance.now() - begun).toBeGreaterThanOrEqual(999);
    expect(await listSent()).toHaveLength(1);
  });

  test.each([
    [undefined, 0, "cannot be taken back"],
    ["default", 20, "sent 20 seconds after"],
    ["10", 20, "sent 10 seconds after"],
    ["0", 20, "cannot be taken back"],
  ])("%s of the account and %s of the service", async (own, ofService, said) => {
    await start(own, { sendDelay: ofService });
    expect((await send({}, { confirmed: false })).text).toContain(said);
  });

  test("a delay that no account may have is refused", async () => {
    await start(61).catch(() => undefined);
    expect((await send()).json.error.code).toBe("integration_misconfigured");
    await service.close();
    await expect(startTestService({ sendDelay: 61 })).rejects.toThrow("sendDelay");
  });

  test("the log shows it while it waits, and a press stops it", async () => {
    await start(60);
    const browser = await signIn();
    const sending = send();
    const id = await findWaiting(browser);
    const page = await browser.open(`${service.url}/log/${id}`);
    expect(page.text).toContain("unless you stop it");
    expect(page.text).not.toContain("Undo this change");
    await browser.submit(`${service.url}/log/${id}/stop`, { csrf: readCsrf(page) });
    const { status, json } = await sending;
    expect([status, json.error.code]).toEqual([409, "stopped"]);
    expect(json.error.message).toBe('"Send a message" was stopped by a human before anything was done.');
    expect((await find(id)).json).toMatchObject({ status: "failed" });
    expect(await listSent()).toEqual([]);
    const again = await browser.submit(`${service.url}/log/${id}/stop`, { csrf: readCsrf(page) });
    expect(again.status).toBe(303);
    expect((await find(id)).json).toMatchObject({ status: "failed" });
  });

  test("whoever asks for its end can stop it, after a yes", async () => {
    await start(60);
    const sending = send();
    const id = await findWaiting(await signIn());
    const { json: shown } = await find(id);
    expect(shown.undo).toMatchObject({ tool_name: "mail_undo", input: { execution_id: id } });
    expect(shown).toMatchObject({ status: "running", finished_at: null });
    const asked = await undo(id);
    expect([asked.status, asked.json.error.preview.summary]).toEqual([
      412,
      'Stop "Send a message" before it is done: Figures · me@example.org',
    ]);
    const done = await undo(id, { confirmed: true, preview_state: asked.json.error.preview.state });
    expect(done.json.result).toEqual({ undone: id, stopped: true });
    expect((await sending).json.error.code).toBe("stopped");
    expect((await undo(id)).status).toBe(409);
    expect(await listSent()).toEqual([]);
  });

  test("it is not sent for a caller that went away", async () => {
    await start(60);
    const leaving = new AbortController();
    const headers = { "x-svc-api-key": service.apiKey, "content-type": "application/json" };
    const body = JSON.stringify({ arguments: MAIL, connectionId: account, confirmed: true });
    const url = `${service.url}/api/tools/mail_send_message/execute`;
    const sending = fetch(url, { method: "POST", headers, body, signal: leaving.signal }).catch(() => undefined);
    const id = await findWaiting(await signIn());
    leaving.abort();
    await sending;
    await expect.poll(async () => (await find(id)).json.message).toBe("The caller went away before this ran.");
    expect(await listSent()).toEqual([]);
  });

  test.each(["revoked", "removed", "blocked"] as const)("what is %s meanwhile is not used", async (what) => {
    await start(1);
    const sending = send();
    await findWaiting(await signIn());
    if (what === "revoked") {
      const store = await openStoreOf(service.dataDir);
      await store.updateTable("api_keys").set({ revoked_at: new Date().toISOString() }).execute();
      await store.destroy();
    }
    if (what === "removed") await service.service.connections.remove(account);
    if (what === "blocked") {
      const rules = await openRules(service);
      await rules.add({ effect: "block", tool: "mail_send_message" }, "test");
      await rules.close();
    }
    const code = { revoked: "unauthorized", removed: "unknown_connection", blocked: "blocked_by_rule" }[what];
    expect((await sending).json.error.code).toBe(code);
    expect(await listSent()).toEqual([]);
  });

  test("a service that closes does not wait for it, and sends nothing", async () => {
    await start(60);
    const sending = send();
    await findWaiting(await signIn());
    await service.close();
    expect((await sending).json.error).toMatchObject({ code: "not_done" });
    expect(await listSent()).toEqual([]);
  });
});

describe("a mail that the owner approved", () => {
  const hold = async (subject: string) => {
    const refused = await send({ subject }, { confirmed: false });
    return String(refused.json.error.approval.id);
  };
  const state = async (id: string) => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;

  test("can be stopped on its card, and those behind it wait again", async () => {
    await start(60, { approvals: "owner" });
    const [first, second] = [await hold("First"), await hold("Second")];
    const browser = await signIn();
    await decideHeld(service, first, "approve");
    await decideHeld(service, second, "approve");
    await findWaiting(browser);
    const page = await browser.open(`${service.url}/inbox/${first}`);
    expect(page.text).toMatch(/About to run[\s\S]*It is done at [\s\S]*unless you stop it/);
    await browser.submit(`${service.url}/inbox/${first}`, { csrf: readCsrf(page), decision: "stop" });
    await expect
      .poll(async () => (await browser.open(`${service.url}/inbox/${first}`)).text)
      .toContain("Approved, then stopped");
    await expect
      .poll(async () => (await browser.open(`${service.url}/inbox/${second}`)).text)
      .toContain("a call that was asked before it on the same account was stopped");
    expect(await listSent()).toEqual([]);
  });

  test("can be stopped while it waits for its turn, and nothing else is", async () => {
    await start(2, { approvals: "owner" });
    const [first, second] = [await hold("First"), await hold("Second")];
    const browser = await signIn();
    await decideHeld(service, first, "approve");
    await decideHeld(service, second, "approve");
    const page = await browser.open(`${service.url}/inbox/${second}`);
    expect(page.text).toContain("It runs once those before it have ended, unless you stop it.");
    const csrf = readCsrf(page);
    await browser.submit(`${service.url}/inbox/${second}`, { csrf, decision: "stop" });
    expect((await state(second)).approval.status).toBe("declined");
    await expect.poll(async () => (await state(first)).approval.status, { timeout: 10_000 }).toBe("done");
    expect(await listSent()).toHaveLength(1);
    const late = await browser.submit(`${service.url}/inbox/${first}`, { csrf, decision: "stop" });
    expect(String(late.headers.location)).toContain("notice=begun");
  });
});
