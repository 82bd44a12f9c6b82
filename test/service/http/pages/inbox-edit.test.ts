import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openRules } from "../../access/open-rules.ts";
import { attach } from "../../files/envelope.ts";
import { call, execute } from "../../http-calls.ts";
import { createLab, type Lab } from "../../lab-integration.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

let lab: Lab;
let service: TestService;
let browser: Browser;

beforeEach(async () => {
  lab = createLab();
  service = await startTestService({ integrations: [lab.integration], approvals: "owner" });
  await service.service.connections.add({ integration: "lab", label: "First", settings: {} });
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(() => service.close());

const ask = async (args: object, more: object = {}): Promise<string> =>
  (await execute(service, "lab_put", { arguments: args, ...more })).json.error.approval.id;
const page = async (path: string) => (await browser.open(`${service.url}${path}`)).text;
const read = async (id: string) => (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json;
const effects = async () => (await service.effects()).map((one) => one.arguments);

/** Opens the call, and sends the form with other arguments; the answer. */
async function edit(id: string, change: (args: Record<string, unknown>) => unknown) {
  const shown = await browser.open(`${service.url}/inbox/${id}?edit=1`);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  const text = /<textarea[^>]*>\n([^<]*)</.exec(shown.text)?.[1] ?? "";
  const own = text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&#39;", "'").replaceAll("&amp;", "&");
  const next = change(JSON.parse(own));
  const sent = typeof next === "string" ? next : JSON.stringify(next);
  const fields = { csrf: readCsrf(shown), fingerprint, decision: "edit", arguments: sent };
  return browser.submit(`${service.url}/inbox/${id}`, fields);
}

test("an edited call runs as it was edited, once; the log says who edited, and what was asked", async () => {
  const id = await ask({ title: "Mlik" });
  const answer = await edit(id, (args) => ({ ...args, title: "Milk" }));
  expect(answer.headers.location).toContain("notice=edited");
  await expect.poll(async () => (await read(id)).approval.status).toBe("done");
  expect((await read(id)).result).toMatchObject({ result: { stored: "Milk" } });
  expect(await effects()).toEqual([{ title: "Milk" }]);
  const shown = await page(`/inbox/${id}`);
  expect(shown).toMatch(/<dt>Edited by<\/dt><dd>Owner</);
  expect(shown).toContain("As it was asked, before the edit");
  expect(shown).toContain("Mlik");
  const log = await page(/href="(\/log\/[^"]+)"/.exec(shown)?.[1] ?? "");
  expect(log).toMatch(/<dt>Allowed by<\/dt><dd>Owner, in the <a [^>]*>inbox<\/a>, as edited by Owner</);
});

test("what the agent asks again is the same call, as it was asked and as it was edited", async () => {
  const id = await ask({ title: "Mlik" });
  const other = openBrowser();
  await other.open(await service.service.signInUrl());
  await other.open(`${service.url}/inbox/${id}`);
  const before = /name="fingerprint" value="([^"]+)"/.exec(await page(`/inbox/${id}`))?.[1] ?? "";
  lab.ran.length = 0;
  // The run waits behind a call that does not end, so that both can be asked again meanwhile.
  const slow = (await execute(service, "lab_wait", {})).json.error.approval.id;
  const opened = await browser.open(`${service.url}/inbox/${slow}`);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(opened.text)?.[1] ?? "";
  await browser.submit(`${service.url}/inbox/${slow}`, { csrf: readCsrf(opened), fingerprint, decision: "approve" });
  await lab.waiting;
  await edit(id, (args) => ({ ...args, title: "Milk" }));
  expect(await ask({ title: "Mlik" })).toBe(id);
  expect(await ask({ title: "Milk" })).toBe(id);
  const old = { csrf: readCsrf(await other.open(`${service.url}/inbox`)), fingerprint: before, decision: "decline" };
  expect((await other.submit(`${service.url}/inbox/${id}`, old)).headers.location).toContain("notice=changed");
  lab.release();
  await expect.poll(async () => (await read(id)).approval.status).toBe("done");
  expect(lab.ran).toEqual(["wait", "put"]);
});

test.each([
  ["no JSON", '{"title": ', "This is not JSON"],
  ["no object", "[]", "object"],
  ["a wrong type", '{"title": 3}', "title"],
  ["an unknown argument", '{"title": "Milk", "colour": "red"}', "colour"],
  [
    "a file that was not asked",
    '{"title": "M", "file": {"name": "a", "mimetype": "text/plain", "s3key": "x"}}',
    "files",
  ],
])("refused arguments change nothing, and stand in the form with the reason: %s", async (_, text, why) => {
  const id = await ask({ title: "Mlik" });
  const answer = await edit(id, () => text);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain('aria-invalid="true"');
  expect(/id="arguments-problem"[^>]*>([^<]*)</.exec(answer.text)?.[1]).toContain(why);
  expect(answer.text).toContain(text.replaceAll('"', "&quot;"));
  expect((await read(id)).approval.status).toBe("pending");
  expect(lab.ran).toEqual([]);
  expect(await page(`/inbox/${id}`)).not.toContain("Edited by");
});

test("files keep their bytes through an edit", async () => {
  const bytes = Buffer.from("the letter");
  const file = { name: "letter.txt", mimetype: "text/plain", s3key: "local:1" };
  const files = [attach("local:1", bytes, { name: "letter.txt", mimetype: "text/plain" })];
  const id = await ask({ title: "Mlik", file }, { files });
  await edit(id, (args) => ({ ...args, title: "Milk" }));
  await expect.poll(async () => (await read(id)).approval.status).toBe("done");
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  expect((await read(id)).result.result).toEqual({ stored: "Milk", file: sha256 });
});

test("a browser that has not opened a call cannot edit it, nor can anybody after a rule blocks it", async () => {
  const id = await ask({ title: "Mlik" });
  const shown = await browser.open(`${service.url}/inbox/${id}`);
  const fingerprint = /name="fingerprint" value="([^"]+)"/.exec(shown.text)?.[1] ?? "";
  const stranger = openBrowser();
  await stranger.open(await service.service.signInUrl());
  const csrf = readCsrf(await stranger.open(`${service.url}/inbox`));
  const sent = { csrf, fingerprint, decision: "edit", arguments: '{"title":"Milk"}' };
  expect((await stranger.submit(`${service.url}/inbox/${id}`, sent)).headers.location).toContain("notice=changed");
  const rules = await openRules(service);
  await rules.add({ effect: "block", tool: "lab_put" }, "test");
  await rules.close();
  // The rule ends the wait by itself, before the edit is sent or after it.
  const { status, headers } = await edit(id, (args) => ({ ...args, title: "Milk" }));
  expect(status === 400 || headers.location?.includes("notice=edited") === false).toBe(true);
  await expect.poll(async () => (await read(id)).approval.status).toBe("declined");
  expect(lab.ran).toEqual([]);
});
