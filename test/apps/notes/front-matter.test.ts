import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import { useTempFolder } from "../../service/files/temp-folder.ts";
import { createRunner, NOW, refusal } from "../run-action.ts";

const temp = useTempFolder();
let vault = "";
let run: ReturnType<typeof createRunner>;

beforeEach(async () => {
  vault = join(temp(), "vault");
  await mkdir(vault);
  run = createRunner(createNotesIntegration(), { settings: { folder: vault } });
});

const put = (name: string, text: string) => writeFile(join(vault, name), text);
const read = (name: string) => readFile(join(vault, name), "utf8");
const update = (change: Record<string, unknown>) => run("update_page", { page_id: "a.md", title: "a", ...change });

describe("a change of tags", () => {
  it.each([
    ["zip: 01234"],
    ["zip: 01234\nok: yes\nt: 12:30"],
    ["id: 123456789012345678"],
    ["up: [[Home]]"],
    ["c: [x, y]"],
    ["hex: 0x1F"],
    ["big: 1e3"],
    ['"e": "\\x41"'],
    ["e: "],
    ["f: >-\n  one\n  two"],
    ["f: |+\n  one\n\n"],
    ["list:\n- a\n-   b"],
    ["m: {a: 1,   b: 2}"],
    ["? complex\n: value"],
    ["a: &x 1\nb: *x"],
    ["day: 2026-11-20"],
    ["a: 'it''s' # why\n\n# a comment\n\nb:    2"],
    ["  deep: 1\n  more: 2"],
    ["a: 1\na: 2"],
    ["tab:\t1"],
    ["n: 1_000\no: 0o17\ni: .inf\nz: ~"],
    ["s: !tag x"],
    ["updated: 2024-05-01"],
  ])("keeps every byte of %j", async (line) => {
    for (const [lineBreak, mark] of [
      ["\n", ""],
      ["\r\n", ""],
      ["\n", "\uFEFF"],
    ] as const) {
      const front = `${line}\n`.replaceAll("\n", lineBreak);
      const [head, tail] = [`${mark}---${lineBreak}`, `--- ${lineBreak}Text${lineBreak}---\nmore`];
      await put("a.md", `${head}${front}${tail}`);
      await update({ tags: ["a"] });
      const indent = /^ */.exec(line)?.[0] ?? "";
      const added = `${indent}tags:\n${indent}  - a\n`.replaceAll("\n", lineBreak);
      expect(await read("a.md")).toBe(`${head}${front}${added}${tail}`);
      await update({ tags: ["b, c", "[d]"] });
      const next = `${indent}tags:\n${indent}  - b, c\n${indent}  - "[d]"\n`.replaceAll("\n", lineBreak);
      expect(await read("a.md")).toBe(`${head}${front}${next}${tail}`);
      await update({ properties: { extra: 1 } });
      await update({ properties: { extra: null } });
      expect(await read("a.md")).toBe(`${head}${front}${next}${tail}`);
    }
  });

  it.each([
    ["tags: [x, 'y'] # mine\nb: 01", "tags: [a, b] # mine\nb: 01"],
    ["tags: x\nb: 01", "tags: [a, b]\nb: 01"],
    ["tags:\nb: 01", "tags: [a, b]\nb: 01"],
    ["tags: # mine\nb: 01", "tags: [a, b] # mine\nb: 01"],
    ["tags:\n- x\n- y\n\n# next\nb: 01", "tags:\n- a\n- b\n\n# next\nb: 01"],
    ["tags: # mine\n    - x # last\nb: 01", "tags: # mine\n    - a\n    - b # last\nb: 01"],
    ["tags: []\nb: 01", "tags: [a, b]\nb: 01"],
    ["tags: |\n  x\n\nb: 01", "tags: [a, b]\n\nb: 01"],
    ["tags:\n  x: 1\nb: 01", "tags: [a, b]\nb: 01"],
    ['"tags" : x\nb: 01', '"tags" : [a, b]\nb: 01'],
    ["b: &t [1]\ntags: *t", "b: &t [1]\ntags: [a, b]"],
    ["{zip: 01234, tags: [x], c: 1}", "{zip: 01234, tags: [a, b], c: 1}"],
    ["{zip: 01234}", "{zip: 01234, tags: [a, b]}"],
  ])("turns %j into %j", async (before, after) => {
    await put("a.md", `---\n${before}\n---\ntext`);
    await update({ tags: ["a", "b"] });
    expect(await read("a.md")).toBe(`---\n${after}\n---\ntext`);
    await update({ tags: ["a", "b"] });
    expect(await read("a.md")).toBe(`---\n${after}\n---\ntext`);
  });

  it.each([
    ["tags: &t [x]\nother: *t", "tags"],
    ["tags:\n  - x # why\n  - y", "tags"],
    ["tags: x\ntags: y", "tags"],
    ["? tags", "tags"],
  ])("is refused where it cannot be made alone: %j", async (front) => {
    const text = `---\n${front}\n---\ntext`;
    await put("a.md", text);
    const error = await refusal(update({ tags: ["a"] }));
    expect([error.status, error.options.extra]).toEqual([400, { invalidFields: ["arguments.tags"] }]);
    expect(await read("a.md")).toBe(text);
  });
});

describe("other fields", () => {
  it("keeps the quotes of a value and the comment behind it", async () => {
    await put("a.md", "---\ntitle: 'a' # shown\nstatus: \"open\"\nn: 1\n---\n");
    await update({ new_title: "It's", properties: { status: "done", n: "01" } });
    expect(await read("a.md")).toBe("---\ntitle: 'It''s' # shown\nstatus: \"done\"\nn: \"01\"\n---\n");
  });

  it("removes the lines of a property and nothing else", async () => {
    const rest = ["# top", "a: 01", "", "# about c", "c: 3 # c", "# end", ""];
    await put("a.md", ["---", ...rest.slice(0, 2), "b: |", "  long", "", "  text", ...rest.slice(2), "---"].join("\n"));
    await update({ properties: { b: null } });
    expect(await read("a.md")).toBe(["---", ...rest, "---"].join("\n"));
    await update({ properties: { a: null, c: null, none: null } });
    expect(await read("a.md")).toBe("---\n# top\n\n# about c\n# end\n\n---");
  });

  it("writes no property twice that stands there as a number", async () => {
    await put("a.md", "---\n1: one\n---\n");
    await update({ properties: { 1: "two" } });
    expect(await read("a.md")).toBe("---\n1: two\n---\n");
  });

  it("refuses to take out of braces, or what another value points at", async () => {
    for (const [front, name] of [
      ["{a: 1, b: 2}", "a"],
      ["a: &x 1\nb: *x", "a"],
      ["? a\n: 1", "a"],
    ] as const) {
      await put("a.md", `---\n${front}\n---\n`);
      const error = await refusal(update({ properties: { [name]: null } }));
      expect([error.status, error.options.extra]).toEqual([400, { invalidFields: [`arguments.properties.${name}`] }]);
      expect(await read("a.md")).toBe(`---\n${front}\n---\n`);
    }
  });

  it("writes into a file with CR LF and a mark only its own lines", async () => {
    await put("a.md", "\uFEFFone\r\ntwo");
    await update({ append: "three\nfour" });
    expect(await read("a.md")).toBe("\uFEFFone\r\ntwo\r\nthree\r\nfour\r\n");
    await update({ tags: ["t"] });
    expect(await read("a.md")).toBe("\uFEFF---\r\ntags:\r\n  - t\r\n---\r\none\r\ntwo\r\nthree\r\nfour\r\n");
    await update({ body: "new\ntext" });
    expect(await read("a.md")).toBe("\uFEFF---\r\ntags:\r\n  - t\r\n---\r\nnew\r\ntext");
  });

  it("moves a time forward that it has written itself, and no other", async () => {
    for (const [before, after] of [
      ["2026-11-01T08:00:00.000Z", new Date(NOW).toISOString()],
      ["2026-11-01", "2026-11-01"],
      ["yesterday", "yesterday"],
    ]) {
      await put("a.md", `---\nupdated: ${before}\n---\n`);
      await update({ append: "x" });
      expect(await read("a.md")).toBe(`---\nupdated: ${after}\n---\nx\n`);
    }
  });
});

describe("reading", () => {
  it("shows numbers as they are written", async () => {
    await put(
      "a.md",
      "---\nzip: 01234\nid: 123456789012345678\nn: 12\nhex: 0x1F\nprice: 1.50\ni: .inf\nok: yes\ntags: [2026, 007]\n---\n",
    );
    expect((await run("list_pages", {})).pages).toMatchObject([{ page_id: "123456789012345678" }]);
    expect(await run("read_page", { page_id: "a.md" })).toMatchObject({
      properties: { zip: "01234", n: 12, hex: "0x1F", price: "1.50", i: ".inf", ok: "yes" },
      tags: ["2026", "007"],
    });
  });

  it("says which of two equal properties it shows", async () => {
    await put("a.md", "---\na: 1\na: 2\n---\n");
    const page = await run("read_page", { page_id: "a.md" });
    expect(page.properties).toEqual({ a: 2 });
    expect(page.not_shown).toEqual([{ where: "a.md", why: expect.stringContaining("more than once") }]);
  });
});
