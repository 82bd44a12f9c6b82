import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openStoreOf } from "../../find-store.ts";
import { deliverMail } from "../../flows/mailbox.ts";
import { call, type Reply } from "../../http-calls.ts";
import { type Browser, invite, openBrowser, readCsrf } from "./browser.ts";

let service: TestService;
let browser: Browser;

beforeEach(async () => {
  service = await startTestService();
  await deliverMail(service.dataDir, [
    { from: "Ada <ada@example.org>", subject: "Quote <b>for</b> the terrace", text: "Please answer." },
    { from: "Ben <ben@example.org>", subject: "Invoice", text: "It is due." },
  ]);
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

/** Starts a flow and waits until it has come as far as it does by itself: the answer to the start may come before. */
async function startFlow(flowTemplate: string, input: unknown = {}): Promise<string> {
  const { json } = await call(`${service.url}/api/flows/start`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ flowTemplate, input, triggerType: "agent" }),
  });
  await expect.poll(() => statusOf(json.flowId)).not.toMatch(/pending|running/);
  return json.flowId;
}
const startTasks = () => startFlow("mail_to_notes_tasks", { notionParent: "Tasks" });
const open = (path: string): Promise<Reply> => browser.open(`${service.url}${path}`);
type Fields = [string, string][];
/** Presses a button of the page as it is now: what the form of the verb holds, or the token alone, and `fields`. */
async function press(id: string, verb: string, fields: Fields = []): Promise<Reply> {
  return send(id, verb, await open(`/flows/${id}`), fields);
}
function send(id: string, verb: string, page: Reply, fields: Fields = []): Promise<Reply> {
  const form = page.text.split(`action="/flows/${id}/${verb}">`)[1]?.split("</form>")[0] ?? "";
  const held = [...form.matchAll(/type="hidden" name="(\w+)" value="([^"]*)"/g)].map(
    ([, name = "", value = ""]): [string, string] => [name, value],
  );
  return browser.submit(`${service.url}/flows/${id}/${verb}`, [
    ...(held.length === 0 ? [["csrf", readCsrf(page)] satisfies [string, string]] : held),
    ...fields,
  ]);
}
/** Every box of a choice as it is at first. */
const TICKED: Fields = [
  ["item", "0"],
  ["item", "1"],
];
const statusOf = async (id: string): Promise<string> =>
  (await call(`${service.url}/api/flows/${id}`, { key: service.apiKey })).json.flow.status;
const listPages = () => readdir(join(service.dataDir, "notes", "Tasks")).catch(() => []);

describe("the flow pages", () => {
  test("list flows and say so when there is none", async () => {
    expect((await open("/flows")).text).toContain("No flow was started yet.");
    const id = await startTasks();
    const { text } = await open("/flows");
    expect(text).toContain(`<a href="/flows/${id}">Turn unread mail into task pages</a>`);
    expect(text).toMatch(/started by Test device <time/);
  });

  test("let an approver decide what waits, under their name, and end or resume nothing else", async () => {
    const [approved, declined] = [await startTasks(), await startTasks()];
    const [mail] = await service.service.connections.list("mail");
    await service.service.connections.update(mail?.id ?? "", { state: "reauth_required" });
    const failing = await startFlow("mail_unread_summary");
    await expect.poll(() => statusOf(failing)).toBe("failed");
    await service.service.connections.update(mail?.id ?? "", { state: "healthy" });
    const link = await invite(browser, service.url, "Ada");
    browser = openBrowser();
    await browser.open(link);
    expect((await open("/")).text).toContain(`href="/flows/${approved}"`);
    expect((await open("/")).text).not.toContain(`href="/flows/${failing}"`);
    expect((await open("/flows")).status).toBe(403);
    const { text } = await open(`/flows/${failing}`);
    expect(text).toContain("It failed");
    expect(text).not.toMatch(/\/(resume|cancel)"/);
    const csrf = readCsrf(await open("/sessions"));
    for (const verb of ["resume", "cancel"]) {
      const refused = await browser.submit(`${service.url}/flows/${failing}/${verb}`, { csrf });
      expect([refused.status, await statusOf(failing)]).toEqual([403, "failed"]);
    }
    await press(approved, "approve", TICKED);
    await expect.poll(() => statusOf(approved)).toBe("completed");
    expect((await open(`/flows/${approved}`)).text).toContain(
      '<dt>Approved by</dt><dd><span class="text">Ada</span></dd>',
    );
    expect((await open(`/flows/${declined}`)).text).not.toContain(`${declined}/cancel`);
    expect((await press(declined, "decline")).headers.location).toContain("notice=declined");
    expect(await statusOf(declined)).toBe("cancelled");
  });

  test("show what an approval is about, escaped, and put it on the home page", async () => {
    const id = await startTasks();
    const { text } = await open(`/flows/${id}`);
    expect(text).toContain("Approve to create 2 task pages in &quot;Tasks&quot;.");
    expect(text).toContain("Quote &lt;b&gt;for&lt;/b&gt; the terrace");
    expect(text).toContain("Ben &lt;ben@example.org&gt;");
    const home = await open("/");
    expect(home.text).toMatch(new RegExp(`Approve to create 2 task pages[\\s\\S]*href="/flows/${id}"`));
  });

  test("name the account that the following steps use, where the starter chose another than the default", async () => {
    const { connections } = service.service;
    const settings = { folder: join(service.dataDir, "blog") };
    const blog = await connections.add({ integration: "notes", label: "PUBLIC BLOG", settings });
    const id = await startFlow("mail_to_notes_tasks", { notionParent: "Tasks", notesConnectionId: blog.id });
    const named = `<dt>Notes</dt><dd><strong>PUBLIC BLOG</strong> <code>${blog.id}</code></dd>`;
    expect((await open(`/flows/${id}`)).text).toContain(named);
    const { json } = await call(`${service.url}/api/flows/${id}`, { key: service.apiKey });
    const waiting = json.steps.find((step: { status: string }) => step.status === "waiting");
    expect(waiting.output.accounts).toEqual([{ app: "notes", account: "PUBLIC BLOG", connection: blog.id }]);
  });

  test("approve nothing for an account that was not chosen when the flow was started", async () => {
    const { connections } = service.service;
    const [notes] = await connections.list("notes");
    await connections.remove(notes?.id ?? "");
    const id = await startFlow("notes_reminder", { text: "Pay", delaySeconds: 1 });
    const settings = { folder: join(service.dataDir, "blog") };
    await connections.add({ integration: "notes", label: "PUBLIC BLOG", settings, isDefault: true });
    expect((await open(`/flows/${id}`)).text).toContain("no account was chosen");
    expect((await press(id, "approve")).headers.location).toContain("notice=changed");
    const refused = await call(`${service.url}/api/flows/${id}/approve`, {
      method: "POST",
      key: service.apiKey,
      headers: { "content-type": "application/json" },
      body: "{}",
    });
    expect([refused.status, await statusOf(id)]).toEqual([409, "waiting"]);
  });

  test("show times as every page does", async () => {
    const at = new Date(Math.floor(Date.now() / 1000) * 1000 + 3_600_000).toISOString();
    const id = await startFlow("notes_reminder", { text: "Call the plumber", at });
    const { text } = await open(`/flows/${id}`);
    const shown = `${at.slice(0, 10)} ${at.slice(11, 19)} UTC`;
    expect(text).toContain(`Approve to leave a reminder in &quot;Reminders&quot; at ${shown}.`);
    expect(text).toContain(`<dt>At</dt><dd><time datetime="${at}" title="${at}">${shown}</time></dd>`);
    expect(text.replaceAll(/ (?:datetime|title)="[^"]*"/g, "")).not.toMatch(/\dT\d\d:/);
  });

  test("leave nothing of a time away", async () => {
    const at = `${new Date().getUTCFullYear() + 1}-01-02T03:04:05.250Z`;
    const id = await startFlow("notes_reminder", { text: "Call the plumber", at });
    const { text } = await open(`/flows/${id}`);
    expect(text).toContain(`>${at.slice(0, 10)} 03:04:05.250 UTC</time>`);
  });

  test("keep an approval on the home page, however many flows came after it", async () => {
    const id = await startTasks();
    const store = await openStoreOf(service.dataDir);
    const flow = await store.selectFrom("flows").selectAll().executeTakeFirstOrThrow();
    const later = (index: number) => `2099-01-01T00:00:${String(index).padStart(2, "0")}.000Z`;
    const others = Array.from({ length: 40 }, (_, index) => {
      const isTimed = index % 2 === 0;
      const state = isTimed ? { wake_at: later(index) } : { status: "cancelled" as const };
      return { ...flow, ...state, id: `flw_${index}`, updated_at: later(index) };
    });
    await store.insertInto("flows").values(others).execute();
    await store.destroy();
    expect((await open("/")).text).toMatch(new RegExp(`Approve to create 2 task pages[\\s\\S]*href="/flows/${id}"`));
  });

  test("approving does exactly what was shown", async () => {
    const id = await startTasks();
    expect(await listPages()).toEqual([]);
    const done = await press(id, "approve", TICKED);
    expect([done.status, done.headers.location]).toEqual([303, `/flows/${id}?notice=approved`]);
    await expect.poll(() => statusOf(id)).toBe("completed");
    expect(await listPages()).toHaveLength(2);
    expect((await open(`/flows/${id}`)).text).toContain('<dt>Approved by</dt><dd><span class="text">Owner</span></dd>');
  });

  test("pressed twice at one time, one approval counts and both see how it stands", async () => {
    const id = await startTasks();
    const page = await open(`/flows/${id}`);
    const replies = await Promise.all([1, 2, 3].map(() => send(id, "approve", page, TICKED)));
    const notices = replies.map(({ headers }) => String(headers.location).split("=")[1]).sort();
    expect(notices).toEqual(["approved", "changed", "changed"]);
    await expect.poll(() => statusOf(id)).toBe("completed");
    expect(await listPages()).toHaveLength(2);
  });

  test("approve what an agent may not approve itself, where calls wait for the owner", async () => {
    await service.close();
    service = await startTestService({ approvals: "owner" });
    await deliverMail(service.dataDir, [{ from: "Ada <ada@example.org>", subject: "Invoice", text: "It is due." }]);
    browser = openBrowser();
    await browser.open(await service.service.signInUrl());
    const id = await startTasks();
    const refused = await call(`${service.url}/api/flows/${id}/approve`, { method: "POST", key: service.apiKey });
    expect(refused.status).toBe(409);
    expect(refused.json.error).toContain(`${service.url}/flows/${id}`);
    expect(await statusOf(id)).toBe("waiting");
    expect(await listPages()).toEqual([]);
    await press(id, "approve");
    await expect.poll(() => statusOf(id)).toBe("completed");
    expect(await listPages()).toHaveLength(1);
  });

  test("let single items be left out, do the rest, and keep what was left out", async () => {
    const id = await startTasks();
    const { text } = await open(`/flows/${id}`);
    expect(text).toMatch(/<legend>Untick[\s\S]*value="0" checked[\s\S]*Quote[\s\S]*value="1" checked[\s\S]*Invoice/);
    expect((await press(id, "approve")).headers.location).toBe(`/flows/${id}?notice=none`);
    expect((await open(`/flows/${id}?notice=none`)).text).toContain("Nothing was chosen, so nothing was approved.");
    expect((await press(id, "approve", [["item", "7"]])).headers.location).toContain("notice=changed");
    expect([await statusOf(id), await listPages()]).toEqual(["waiting", []]);
    expect((await press(id, "approve", [["item", "1"]])).headers.location).toContain("notice=approved");
    await expect.poll(() => statusOf(id)).toBe("completed");
    expect(await listPages()).toEqual(["Invoice.md"]);
    const page = await open(`/flows/${id}?notice=approved`);
    expect(page.text).toContain("Left out: Quote &lt;b&gt;for&lt;/b&gt; the terrace");
    expect(page.text).toContain("Approved. The flow is done.");
    const { json } = await call(`${service.url}/api/flows/${id}`, { key: service.apiKey });
    const [, , decided, made] = json.steps;
    expect(decided.output.leftOut).toMatchObject([{ title: "Quote <b>for</b> the terrace" }]);
    expect(decided.output.pages).toMatchObject([{ title: "Invoice" }]);
    expect(made.output).toMatchObject({ created: 1, total: 1 });
  });

  test("declining ends it with a reason that its starter can read", async () => {
    const id = await startTasks();
    const done = await press(id, "decline", [["reason", "Not\u202e in May"]]);
    expect([done.status, done.headers.location]).toEqual([303, `/flows/${id}?notice=declined`]);
    const { json } = await call(`${service.url}/api/flows/${id}`, { key: service.apiKey });
    expect(json.flow).toMatchObject({ status: "cancelled", completedAt: null });
    const at = expect.stringMatching(/Z$/);
    const decided = { approved: false, declinedAt: at, declinedBy: "Owner", reason: "Not in May" };
    expect(json.steps[2]).toMatchObject({ status: "skipped", output: decided });
    expect(json.steps[3].status).toBe("skipped");
    const { text } = await open(`/flows/${id}`);
    expect(text).toContain("Declined by Owner. Reason: Not in May");
    expect(text).toContain('<span class="tag plain">Declined</span>');
    expect(await listPages()).toEqual([]);
  });

  test("show each step with its course and the calls of the log", async () => {
    const id = await startTasks();
    await press(id, "approve", TICKED);
    await expect.poll(() => statusOf(id)).toBe("completed");
    const { text } = await open(`/flows/${id}`);
    expect(text).toMatch(/Fetch unread<\/strong><span class="muted">tool call · took [\d.]+ m?s · <time/);
    expect(text).toMatch(/approval · approved by Owner · waited [\d.]+ m?s · <time/);
    const links = [...text.matchAll(/<a href="(\/log\/exe_\w+)">([^<]+)<\/a> ([^<]*) <span class="tag ok">Done/g)];
    expect(links.map(([, , title, about]) => `${title}: ${about}`)).toEqual([
      "Search mail: is:unread",
      "Create a page: Quote &lt;b&gt;for&lt;/b&gt; the terrace · Tasks",
      "Create a page: Invoice · Tasks",
    ]);
    for (const [, href = ""] of links) expect((await open(href)).status).toBe(200);
  });

  test("tell waiting flows apart, in every list", async () => {
    const [tasks, reminder] = [
      await startTasks(),
      await startFlow("notes_reminder", { text: "Pay Ben", delaySeconds: 60 }),
    ];
    const about = ["Quote &lt;b&gt;for&lt;/b&gt; the terrace, Invoice", "Pay Ben"];
    for (const path of ["/inbox", "/", "/flows"]) {
      const { text } = await open(path);
      expect(text, path).toContain("Approve to create 2 task pages in &quot;Tasks&quot;.");
      expect(text, path).toContain(
        "Approve to leave a reminder in &quot;Reminders&quot; 1 minute after your approval.",
      );
      for (const one of about) expect(text, path).toContain(one);
      expect(text, path).toContain("started by Test device");
    }
    const { json } = await call(`${service.url}/api/flows`, { key: service.apiKey });
    const shown = json.flows.map(({ id, waitingFor }: { id: string; waitingFor: { about: string } }) => [
      id,
      waitingFor.about,
    ]);
    expect(shown.sort()).toEqual(
      [
        [tasks, "Quote <b>for</b> the terrace, Invoice"],
        [reminder, "Pay Ben"],
      ].sort(),
    );
  });

  test("an old page does not approve a step that it did not show", async () => {
    const id = await startTasks();
    const page = await open(`/flows/${id}`);
    for (const [shown, other] of [
      [/approve_task_creation/g, "another_step"],
      [/(?<=name="seen" value=")[^"]+/g, "0".repeat(64)],
      [/name="(?:seen|step)"/g, 'name="other"'],
    ] as const) {
      const old = { ...page, text: page.text.replace(shown, other) };
      expect((await send(id, "approve", old, TICKED)).headers.location).toBe(`/flows/${id}?notice=changed`);
      expect((await send(id, "decline", old)).headers.location).toBe(`/flows/${id}?notice=changed`);
    }
    expect(await statusOf(id)).toBe("waiting");
    expect(await listPages()).toEqual([]);
  });

  test("cancelling ends it and changes nothing", async () => {
    const id = await startTasks();
    expect((await press(id, "cancel")).headers.location).toBe(`/flows/${id}?notice=cancelled`);
    const page = await open(`/flows/${id}?notice=cancelled`);
    expect(page.text).toContain("The flow is cancelled.");
    expect(page.text).not.toContain('name="step"');
    expect(await listPages()).toEqual([]);
  });

  test("a failed flow says why and goes on from there when it is resumed", async () => {
    const [mail] = await service.service.connections.list("mail");
    await service.service.connections.update(mail?.id ?? "", { state: "reauth_required" });
    const id = await startFlow("mail_unread_summary");
    await expect.poll(() => statusOf(id)).toBe("failed");
    const page = await open(`/flows/${id}`);
    expect(page.text).toMatch(/It failed at “Fetch unread”[\s\S]*must be signed in to again/);
    expect((await open("/")).text).toMatch(/Summarise unread mail[\s\S]*must be signed in to again/);
    expect((await send(id, "resume", page)).headers.location).toBe(`/flows/${id}?notice=resumed`);
    await expect.poll(() => statusOf(id)).toBe("failed");
    expect((await send(id, "resume", page)).headers.location, "an old page").toBe(`/flows/${id}?notice=changed`);
    await service.service.connections.update(mail?.id ?? "", { state: "healthy" });
    expect((await press(id, "resume")).headers.location).toBe(`/flows/${id}?notice=resumed`);
    await expect.poll(() => statusOf(id)).toBe("completed");
    expect((await open(`/flows/${id}`)).text).toContain("2 messages from 2 senders.");
  });

  test("say clearly that a flow is not there, and lead back to the list", async () => {
    const csrf = readCsrf(await open("/flows"));
    const address = `${service.url}/flows/flow_nothing`;
    const replies = [
      await open("/flows/flow_nothing"),
      ...(await Promise.all(
        ["approve", "decline", "resume", "cancel"].map((verb) => browser.submit(`${address}/${verb}`, { csrf })),
      )),
    ];
    for (const { status, text } of replies) {
      expect(status).toBe(404);
      expect(text).toContain("<h1>This flow is unknown</h1>");
      expect(text).toContain('<p><a href="/flows">All flows</a></p>');
      expect(text).toContain('<a href="/flows" aria-current="page">');
    }
  });

  test("need the owner and the token of the page", async () => {
    const id = await startTasks();
    for (const verb of ["approve", "decline", "resume", "cancel"]) {
      const url = `${service.url}/flows/${id}/${verb}`;
      const fields = { step: "approve_task_creation" };
      expect((await browser.submit(url, fields)).status).toBe(403);
      expect((await openBrowser().submit(url, fields, { "x-svc-api-key": service.apiKey })).status).toBe(403);
      const csrf = readCsrf(await open(`/flows/${id}`));
      expect((await browser.submit(url, { csrf, ...fields }, { origin: "https://evil.example" })).status).toBe(403);
    }
    expect(await statusOf(id)).toBe("waiting");
    const stranger = openBrowser();
    expect((await stranger.open(`${service.url}/flows/${id}`)).status).toBe(401);
    expect((await stranger.open(await service.service.signInUrl())).headers.location).toBe(`/flows/${id}`);
  });
});
