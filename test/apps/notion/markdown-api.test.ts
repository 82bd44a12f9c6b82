import { readFile } from "node:fs/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import { toEnhanced } from "../../../src/apps/notes/notion/page-markdown.ts";
import type { Integration } from "../../../src/apps/port/integration.ts";
import { createRunner, refusal } from "../run-action.ts";
import type { Item, Json } from "./kit/notion-store.ts";
import { startNotion, type TestNotion, TOKEN } from "./kit/start-notion.ts";

const golden: Json = JSON.parse(await readFile(new URL("golden.json", import.meta.url), "utf8"));

let notion: TestNotion;
let home: Item;
let integration: Integration;
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  notion = await startNotion();
  home = notion.addPage(undefined, "Home");
  integration = createNotesIntegration({ wait: async () => undefined });
  const settings = { notionToken: TOKEN, notionUrl: notion.url, notionParent: home.id };
  run = createRunner(integration, { settings });
});
afterEach(async () => {
  await integration.close?.();
  await notion.close();
});

/** The one write that a call sends, as the documentation writes it. */
async function sent(id: string, args: Json): Promise<Json> {
  notion.asked.length = 0;
  await run(id, args);
  const [{ method, path, body }, ...more] = notion.listWrites() as [Json];
  expect(more).toEqual([]);
  return { method, path: path.replace(home.id, "YOUR_PAGE_ID"), body };
}

it("creates a page as documented", async () => {
  const { create } = golden;
  const { parent, properties, ...body } = (await sent("create_page", { title: "T", body: create.body.markdown })).body;
  expect({ ...body, parent: { page_id: "YOUR_PAGE_ID" } }).toEqual(create.body);
  expect([parent, properties]).toEqual([
    { type: "page_id", page_id: home.id },
    { title: { title: [{ type: "text", text: { content: "T" } }] } },
  ]);
});

it("reads a page as documented", async () => {
  const { read } = golden;
  notion.fail(({ path }) => (path.endsWith("/markdown") ? { body: JSON.stringify(read.answer) } : undefined));
  expect((await run("read_page", { page_id: home.id })).body).toBe(`${read.answer.markdown}\n`);
  const { method, path } = notion.asked.at(-1) as Json;
  expect([method, path.replace(home.id, "YOUR_PAGE_ID")]).toEqual([read.method, read.path]);
});

it("inserts, replaces and updates as documented", async () => {
  const { insert, replace, update } = golden;
  expect(
    await sent("update_page", { page_id: home.id, title: "Home", append: insert.body.insert_content.content }),
  ).toEqual(insert);
  const body = replace.body.replace_content.new_str;
  expect(await sent("update_page", { page_id: home.id, title: "Home", body })).toEqual(replace);
  await run("update_page", { page_id: home.id, title: "Home", properties: { status: "open" } });
  expect(await sent("update_page", { page_id: home.id, title: "Home", properties: { status: "done" } })).toEqual(
    update,
  );
});

it("a refusal as documented is the caller's to read, and changed nothing", async () => {
  const { status, body } = golden.refusal;
  notion.fail(({ method }) => (method === "PATCH" ? { status, body: JSON.stringify(body) } : undefined));
  const error = await refusal(run("update_page", { page_id: home.id, title: "Home", body: "new" }));
  expect([error.status, error.code, error.message]).toEqual([
    400,
    "invalid_arguments",
    expect.stringContaining(body.message),
  ]);
});

it.each([
  ["<!-- flow_-a_b--001 -->", "\\<!-- flow_-a_b--001 -->"],
  ["<div>stays text</div>", "\\<div>stays text\\</div>"],
  ["from $5 to $6", "from \\$5 to \\$6"],
  ["{a: 1} and x^2", "\\{a: 1\\} and x\\^2"],
  ["a \\< b", "a \\< b"],
  ["`<b>` and $x^2$", "`<b>` and $x^2$"],
  ["```html\n<b> $1\n```", "```html\n<b> $1\n```"],
  ["$$\nE = mc^2\n$$", "$$\nE = mc^2\n$$"],
  ["<https://example.org/>", "<https://example.org/>"],
  ['<details>\n<summary>t</summary>\n\tx\n</details> {color="red"}', undefined],
  ["- [ ] open\n  - **deep**\n\n| a | b |\n| --- | --- |\n| 1 | x \\| y |", undefined],
])("%j is written so that Notion keeps it, and read as it was", async (markdown, written = markdown) => {
  expect(toEnhanced(markdown)).toBe(written);
  const { page_id } = await run("create_page", { title: "T", body: markdown });
  expect((await run("read_page", { page_id })).body).toBe(markdown === "a \\< b" ? "a < b\n" : `${markdown}\n`);
});

it("a property with ticks stays inside the front block", async () => {
  const { page_id } = await run("create_page", { title: "T", body: "text", properties: { k: "a\n```\nb\n```` c" } });
  expect(await run("read_page", { page_id })).toMatchObject({ properties: { k: "a\n```\nb\n```` c" }, body: "text\n" });
});

it("text of any kind is written in a moment", () => {
  for (const part of ["`", "<", "$a", "``` \n", "<page ", " ", '{color="', "\\", "$$a"])
    toEnhanced(part.repeat(50_000));
});
