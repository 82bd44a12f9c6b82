import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { builtInIntegrations } from "../../../../src/apps/built-in.ts";
import { ServiceError } from "../../../../src/service/service-error.ts";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { decideHeld } from "../../approvals/owner.ts";
import { deliverMail } from "../../flows/mailbox.ts";
import { call, execute } from "../../http-calls.ts";
import { createLab, type Lab } from "../../lab-integration.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

let lab: Lab;
let service: TestService;
let browser: Browser;
let clock: number;

beforeEach(async () => {
  lab = createLab();
  clock = Date.parse("2026-11-25T12:00:00Z");
  const integrations = [...builtInIntegrations, lab.integration];
  service = await startTestService({ integrations, approvals: "owner", now: () => clock });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
  browser = await signIn();
});
afterEach(() => service.close());

async function signIn(): Promise<Browser> {
  const opened = openBrowser();
  await opened.open(await service.service.signInUrl());
  return opened;
}

/** Holds a call, a second after the one before; its id. */
async function ask(title: string, more: object = {}): Promise<string> {
  clock += 1000;
  const refused = await execute(service, "lab_put", { arguments: { title, ...more } });
  return refused.json.error.approval.id;
}

const page = async (path: string, as = browser) => (await as.open(`${service.url}${path}`)).text;
const rowIds = (text: string) => [...text.matchAll(/<li id="(\w+)"/g)].map(([, id]) => id);

async function approveSeveral(calls: readonly string[], as = browser): Promise<string> {
  const csrf = readCsrf(await as.open(`${service.url}/inbox`));
  const body = new URLSearchParams([["csrf", csrf], ...calls.map((one): [string, string] => ["call", one])]).toString();
  const cookie = [...as.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
  const headers = { cookie, "content-type": "application/x-www-form-urlencoded" };
  const url = `${service.url}${as.sessionPath()}/inbox/approve`;
  const answer = await call(url, { method: "POST", headers, body });
  return String(answer.headers.location).replace(/^\/s\/[\w-]{43}/, "");
}

/** As the form of the list sends it. */
async function choiceOf(id: string): Promise<string> {
  const approval = (await browser.open(`${service.url}/inbox/${id}`)).text;
  return `${id} ${/name="fingerprint" value="([^"]+)"/.exec(approval)?.[1]}`;
}

test.each([
  ["failed", new ServiceError(429, "rate_limit", "Too many calls."), "Too many calls."],
  ["outcome unknown", new Error("cut"), "It is not run again: look in the app whether it is done."],
])("an approved call that did not succeed says so, on its page and in the list: %s", async (state, fault, told) => {
  await service.close();
  const actions = lab.integration.actions.map((action) => ({ ...action, run: () => Promise.reject(fault) }));
  service = await startTestService({ integrations: [{ ...lab.integration, actions }], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
  browser = await signIn();
  const id = await ask("Milk");
  await decideHeld(service, id, "approve");
  await expect.poll(() => page(`/inbox/${id}`)).toContain(`Approved, ${state}`);
  expect(await page(`/inbox/${id}`)).toContain(told);
  expect(await page("/inbox")).toContain(`Approved, ${state}`);
  expect(await page("/inbox")).not.toContain("Approved and run");
});

test("calls and flows stand in one list, newest first and in pages, all of them counted", async () => {
  const ids = [];
  for (let number = 1; number <= 28; number++) ids.push(await ask(`Thing ${number}`));
  const letter = { from: "Ada <ada@example.org>", subject: "Quote", text: "Keep it?" };
  await deliverMail(service.dataDir, [letter]);
  clock += 1000;
  const started = await call(`${service.url}/api/flows/start`, {
    method: "POST",
    key: service.apiKey,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ flowTemplate: "mail_to_notes_tasks", input: { notionParent: "Tasks" } }),
  });
  const flow = started.json.flowId;
  // A flow works on by itself until it has a question.
  await expect.poll(() => page("/inbox")).toContain("Waiting for you: 29");
  ids.push(flow, await ask("Last"));
  const first = await page("/inbox");
  expect(first).toContain("Waiting for you: 30");
  expect(first).toContain("<title>Inbox (30) · svc</title>");
  expect(first).toContain(`href="/flows/${flow}"`);
  const older = /href="(\/inbox\?after=[^"]+)">Older/.exec(first)?.[1] ?? "";
  const second = await page(older);
  expect([...rowIds(first), ...rowIds(second)]).toEqual(ids.toReversed());
  expect(second).not.toContain("Older");
  const home = await page("/");
  expect(home).toContain("20 more wait for you");
});

test("several are approved at once only if this browser has opened each, as it is", async () => {
  const [first, second, third] = [await ask("One"), await ask("Two"), await ask("Three")];
  expect(await page("/inbox")).not.toContain('type="checkbox"');
  const [one, two] = [await choiceOf(first), await choiceOf(second)];
  const list = await page("/inbox");
  expect(list.match(/type="checkbox"/g)).toHaveLength(2);
  expect(list).toContain(`value="${one}"`);
  // The right fingerprint of a call that was not opened here, and a wrong one of a call that was.
  const stranger = await signIn();
  const three = `${third} ${/name="fingerprint" value="([^"]+)"/.exec(await page(`/inbox/${third}`, stranger))?.[1]}`;
  expect(await approveSeveral([three])).toBe("/inbox?approved=0&left=1");
  expect(await approveSeveral([one, two], stranger)).toBe("/inbox?approved=0&left=2");
  expect(await approveSeveral([`${first} ${two.split(" ")[1]}`])).toBe("/inbox?approved=0&left=1");
  expect(await approveSeveral([])).toBe("/inbox?approved=0&left=0");
  expect(lab.ran).toEqual([]);
  const told = await approveSeveral([one, two, three]);
  expect(told).toMatch(/^\/inbox\?approved=2&left=1&decision=dec_\w+$/);
  await expect.poll(() => lab.ran).toEqual(["put", "put"]);
  expect(await page(told)).toContain("Approved: 2. 1 not:");
  expect(await approveSeveral([one, two])).toBe("/inbox?approved=0&left=2");
  expect(lab.ran).toEqual(["put", "put"]);
});

test("an equal call that is asked again later is opened by itself", async () => {
  const first = await ask("One");
  const [, fingerprint] = (await choiceOf(first)).split(" ");
  await decideHeld(service, first, "decline");
  clock += 11 * 60_000;
  const again = await ask("One");
  expect(again).not.toBe(first);
  expect(await approveSeveral([`${again} ${fingerprint}`])).toBe("/inbox?approved=0&left=1");
});

test("a call cannot be decided by a browser that has not opened it", async () => {
  const id = await ask("One");
  const chosen = await choiceOf(id);
  const stranger = await signIn();
  const sent = { csrf: readCsrf(await stranger.open(`${service.url}/inbox`)), fingerprint: chosen.split(" ")[1] ?? "" };
  for (const decision of ["approve", "decline"]) {
    const answer = await stranger.submit(`${service.url}/inbox/${id}`, { ...sent, decision });
    expect(answer.headers.location).toContain("notice=changed");
  }
  expect(lab.ran).toEqual([]);
});

test("the log says who decided, when and why: approved, declined, and approved but not run", async () => {
  const logOf = async (id: string) => {
    await expect.poll(() => page(`/inbox/${id}`)).toContain("See it in the log");
    const path = /href="(\/log\/[^"]+)"/.exec(await page(`/inbox/${id}`))?.[1] ?? "";
    return page(path);
  };
  const approved = await ask("Yes");
  await decideHeld(service, approved, "approve");
  const yes = await logOf(approved);
  expect(yes).toMatch(/<dt>Decision<\/dt><dd>Approved<\/dd>\s*<dt>By<\/dt><dd>Owner</);
  expect(yes).toMatch(/<dt>Decided<\/dt><dd><time [^>]*>2026-11-25 12:00:01 UTC<\/time>/);

  const declined = await ask("No");
  await decideHeld(service, declined, "decline", { reason: "Not on a Sunday." });
  const no = await logOf(declined);
  expect(no).toMatch(/<dt>Decision<\/dt><dd>Declined/);
  expect(no).toContain("<dt>Reason</dt><dd>Not on a Sunday.</dd>");
  expect(no).toContain("&quot;title&quot;: &quot;No&quot;");
  expect(no).toContain("Not run");

  const lost = await ask("Void");
  const [connection] = await service.service.connections.list("lab");
  await service.service.connections.update(connection?.id ?? "", { settings: { other: "account" } });
  await decideHeld(service, lost, "approve");
  const voided = await logOf(lost);
  expect(voided).toMatch(/<dt>Decision<\/dt><dd>Approved/);
  expect(voided).toMatch(/<dt>Reason<\/dt><dd>[^<]*account/);
  expect(lab.ran).toEqual(["put"]);
  const log = await page("/log");
  expect(log.match(/>Not run</g)).toHaveLength(2 + 1);
  expect(await page("/inbox/decided")).toContain("Approved, not run");
});

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const HTML = Buffer.from("<script>fetch('/inbox/approve')</script>\u202e<svg onload=alert(1)>\n");

/** A call with a file, declared as `mimetype`. */
async function askWithFile(name: string, mimetype: string, bytes: Buffer): Promise<string> {
  clock += 1000;
  const md5 = createHash("md5").update(bytes).digest("hex");
  const file = { pointer: "local:1", name, mimetype, md5, dataBase64: bytes.toString("base64") };
  const args = { title: name, file: { name, mimetype, s3key: "local:1" } };
  const refused = await execute(service, "lab_put", { arguments: args, files: [file] });
  return refused.json.error.approval.id;
}

test("a picture is told by its bytes, and sent with exactly its type", async () => {
  const id = await askWithFile("holiday.txt", "text/plain", PNG);
  const shown = await browser.open(`${service.url}/inbox/${id}`);
  expect(shown.text).toContain("Its bytes are image/png");
  expect(shown.text).toContain(createHash("sha256").update(PNG).digest("hex"));
  expect(shown.headers["content-security-policy"]).toContain("img-src 'self'");
  const src = /<img src="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  const picture = await browser.open(`${service.url}${browser.sessionPath()}${src}`);
  expect(picture.status).toBe(200);
  expect(picture.headers).toMatchObject({
    "content-type": "image/png",
    "content-security-policy": "default-src 'none'; sandbox",
    "x-content-type-options": "nosniff",
  });
});

test.each([
  ["page.html", "text/html"],
  ["drawing.svg", "image/svg+xml"],
  ["photo.png", "image/png"],
])("text called %s (%s) is shown as its source, and never sent as its type", async (name, mimetype) => {
  const id = await askWithFile(name, mimetype, HTML);
  const shown = await browser.open(`${service.url}/inbox/${id}`);
  expect(shown.text).toContain(
    "&lt;script&gt;fetch(&#39;/inbox/approve&#39;)&lt;/script&gt;\\u202e&lt;svg onload=alert(1)&gt;",
  );
  expect(shown.text).not.toContain("<img");
  expect(shown.headers["content-security-policy"]).not.toContain("img-src");
  const base = `${service.url}${browser.sessionPath()}/inbox/${id}/files/0`;
  expect((await browser.open(`${base}/picture`)).status).toBe(404);
  const saved = await browser.open(base);
  expect(saved.headers).toMatchObject({
    "content-type": "application/octet-stream",
    "content-disposition": "attachment",
    "content-security-policy": "default-src 'none'; sandbox",
  });
});
