import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../../src/testing.ts";
import { openRules } from "../../access/open-rules.ts";
import { execute } from "../../http-calls.ts";
import { type Browser, openBrowser, readCsrf } from "./browser.ts";

let service: TestService;
let rules: Awaited<ReturnType<typeof openRules>>;
let browser: Browser;

beforeEach(async () => {
  service = await startTestService();
  rules = await openRules(service);
  browser = openBrowser();
  await browser.open(await service.service.signInUrl());
});
afterEach(async () => {
  await rules.close();
  await service.close();
});

const open = (query = "") => browser.open(`${service.url}/rules${query}`);
const submit = async (path: string, fields: Record<string, string>) =>
  browser.submit(`${service.url}${path}`, { csrf: readCsrf(await open()), ...fields });

test("a rule is added, shown with its conditions, tried and removed", async () => {
  expect((await open()).text).toContain("There is no rule.");
  const [notes] = await service.service.connections.list("notes");
  const sent = { effect: "block", tool: "notes/*", level: "read", account: notes?.id ?? "", key: "", note: "Mine <b>" };
  expect((await submit("/rules", sent)).headers.location).toBe("/rules?notice=added");
  const [rule] = await rules.list();
  expect(rule).toMatchObject({ effect: "block", tool: "notes/*", level: "read", note: "Mine <b>", madeBy: "Owner" });
  expect(rule).not.toHaveProperty("key");
  const { text } = await open("?notice=added&tool=notes/search");
  expect(text).toContain("Block <code>notes/*</code>");
  expect(text).toContain("level read · Local notes (Notes) · “Mine &lt;b&gt;”");
  expect(text).toContain("<code>notes_search</code> (read): It is refused.");
  expect(text).toContain("Decided by: block <code>notes/*</code>");
  expect((await execute(service, "notes_search", { arguments: { query: "x" } })).status).toBe(403);
  expect((await submit(`/rules/${rule?.id}/remove`, {})).headers.location).toBe("/rules?notice=removed");
  expect(await rules.list()).toEqual([]);
  expect((await submit(`/rules/${rule?.id}/remove`, {})).status).toBe(404);
});

test("a rule that allows says how many calls it let run, and when the last one ran", async () => {
  const used = await rules.add({ effect: "allow", tool: "notes_create_page" }, "test");
  await rules.add({ effect: "allow", tool: "drive_create_folder" }, "test");
  await rules.add({ effect: "block", tool: "feeds/*" }, "test");
  const create = (title: string) => execute(service, "notes_create_page", { arguments: { title, body: "x" } });
  expect((await open()).text.match(/has let no call of the log run/g)).toHaveLength(2);
  for (const title of ["One", "Two"]) expect((await create(title)).status).toBe(200);
  // What a human confirmed is no use of a rule, and neither is a call that it blocks.
  const sent = { arguments: { title: "Three", parent: "x" }, confirmed: true };
  await execute(service, "drive_create_folder", { arguments: { path: "New" }, confirmed: true });
  await execute(service, "notes_search", sent);
  const { text } = await open();
  const [, row] = text.split("Allow <code>notes_create_page</code>");
  expect(row).toMatch(/^[^§]*?let 2 calls run, last <time datetime="[^"]+"/);
  await rules.remove(used.id);
  await rules.add({ effect: "allow", tool: "notes_create_page" }, "test");
  expect((await open()).text).not.toContain("let 2 calls run");
});

test("a rule that cannot be is told at its field, and what was typed stays", async () => {
  const refused = await submit("/rules", { effect: "allow", tool: "mail/*", level: "delete", note: "why" });
  expect(refused.status).toBe(400);
  expect(refused.text).toContain('<p class="problem" id="level-problem">Deleting and administration are always asked');
  expect(refused.text).toMatch(/id="level" name="level" aria-invalid="true" aria-describedby="level-problem"/);
  expect(refused.text).toMatch(/name="tool"[^>]* value="mail\/\*"/);
  expect((await submit("/rules", { effect: "block" })).text).toContain("A pattern on tools is missing.");
  expect(await rules.list()).toEqual([]);
});

test("a rule whose tools are not there, or whose key is gone, says so", async () => {
  await rules.add({ effect: "block", tool: "gmail_*", key: "key_gone", account: "con_gone" }, "test");
  const { text } = await open("?tool=nothing");
  expect(text).toContain("No tool matches now");
  expect(text).toContain("an account that is gone · a key without access");
  expect(text).toContain("There is no tool <code>nothing</code>.");
});

test("nothing changes without the form of the owner", async () => {
  const sent = { effect: "block", tool: "notes/*" };
  expect((await browser.submit(`${service.url}/rules`, sent)).status).toBe(403);
  expect((await openBrowser().submit(`${service.url}/rules`, sent)).status).toBe(403);
  expect((await openBrowser().open(`${service.url}/rules`)).status).toBe(401);
  expect(await rules.list()).toEqual([]);
});
