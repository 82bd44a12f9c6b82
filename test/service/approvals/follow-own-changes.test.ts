import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startTestService, type TestService } from "../../../src/testing.ts";
import { openBrowser } from "../http/pages/browser.ts";
import { call, execute } from "../http-calls.ts";
import { decideTogether } from "./owner.ts";

let service: TestService;
let page: string;

beforeEach(async () => {
  service = await startTestService({ approvals: "owner" });
  const notes = join(service.dataDir, "notes");
  await mkdir(notes, { recursive: true });
  page = join(notes, "Plan.md");
  await writeFile(page, "---\ntitle: Plan\n---\none\n");
});
afterEach(() => service.close());

/** Asks for both changes of the page, lets `meanwhile` happen, approves both at once; how they ended. */
async function approveBoth(changes: readonly object[], meanwhile?: () => Promise<void>): Promise<string[]> {
  const ids: string[] = [];
  for (const change of changes) {
    const asked = { arguments: { page_id: "Plan.md", title: "Plan", ...change } };
    ids.push((await execute(service, "notes_update_page", asked)).json.error.approval.id);
  }
  await meanwhile?.();
  const browser = openBrowser();
  await browser.open(await service.service.signInUrl());
  await decideTogether(browser, service.url, ids);
  const statusOf = async (id: string): Promise<string> =>
    (await call(`${service.url}/api/approvals/${id}`, { key: service.apiKey })).json.approval.status;
  const read = () => Promise.all(ids.map(statusOf));
  await expect.poll(read).not.toContain("approved");
  await expect.poll(read).not.toContain("running");
  return read();
}

test("two calls that add to one page and were approved together both run", async () => {
  expect(await approveBoth([{ append: "two" }, { append: "three" }])).toEqual(["done", "done"]);
  expect(await readFile(page, "utf8")).toContain("one\ntwo\nthree\n");
});

test("the second one does not run where it replaces what the first one wrote", async () => {
  expect(await approveBoth([{ append: "two" }, { body: "other" }])).toEqual(["done", "void"]);
  expect(await readFile(page, "utf8")).toContain("one\ntwo\n");
});

test("neither runs on what somebody else changed meanwhile", async () => {
  const edit = () => writeFile(page, "---\ntitle: Plan\n---\none\nby hand\n");
  const ends = await approveBoth([{ append: "two" }, { append: "three" }], edit);
  expect(ends[0]).toBe("void");
  expect(ends[1]).not.toBe("done");
  expect(await readFile(page, "utf8")).toBe("---\ntitle: Plan\n---\none\nby hand\n");
});

test("the second one does not run where not all of it can be shown", async () => {
  const long = Array.from({ length: 600 }, (_, line) => `line ${line}`).join("\n");
  expect(await approveBoth([{ append: "two" }, { append: long }])).toEqual(["done", "void"]);
  expect(await readFile(page, "utf8")).not.toContain("line 599");
});
