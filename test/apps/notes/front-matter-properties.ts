import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect } from "vitest";
import { createNotesIntegration } from "../../../src/apps/notes/notes-integration.ts";
import { ServiceError } from "../../../src/service/service-error.ts";
import { createRunner } from "../run-action.ts";

/** Lines of front matter as people and programs write them; each stands for itself. */
const OTHERS = [
  "zip: 01234",
  "id: 123456789012345678",
  "ok: yes",
  "at: 12:30",
  "day: 2026-11-20",
  "hex: 0x1F",
  "big: 1e3",
  "none:",
  "tilde: ~",
  "up: [[Home]]",
  "list: [x,  'y', \"z\"]   # why",
  "map: {a: 1,   b: 2}",
  "'quo ted' :  'it''s'",
  '"dou\\x62le": "\\u00e4"',
  "text: |\n  one\n\n   two",
  "kept: |+\n  one\n\n",
  "folded: >-\n  one\n  two\n\n  three",
  "loose:\n- a\n-   b # b\n# between\n- c",
  "deep:\n    # inside\n    more:\n        - x: 1\n          y: 2",
  "plain: several words\n  on two lines",
  "? complex\n: value",
  "base: &base\n  a: 1",
  "again: *base",
  "# a comment",
  "",
  "umlaut: Grüße 💡",
  "tagged: !thing x",
  "twice: 1\ntwice: 2",
];
/** Ways in which the field that is changed may stand there already. */
const FIELDS = [
  (name: string) => `${name}: x`,
  (name: string) => `${name}:   'x'  # c`,
  (name: string) => `"${name}": "x"`,
  (name: string) => `${name}:`,
  (name: string) => `${name}: # c`,
  (name: string) => `${name}: [x, y] # c`,
  (name: string) => `${name}:\n  - x\n  - y`,
  (name: string) => `${name}:\n- x\n- y # c`,
  (name: string) => `${name}: # c\n    - x`,
  (name: string) => `${name}: >-\n  x\n  y`,
  (name: string) => `${name}: |\n  x`,
  (name: string) => `${name}:\n  x: 1`,
  (name: string) => `${name}: 007`,
  (name: string) => `${name}: [x, # c\n  y]`,
  (name: string) => `${name}:\n  - x # c\n  - y`,
  (name: string) => `? ${name}\n: x`,
  (name: string) => `${name}: &n x`,
];

const text = fc.oneof(
  fc.constantFrom(
    "a",
    "01234",
    "yes",
    "1e3",
    "a: b",
    "# no",
    "- x",
    "[x]",
    "it's",
    'say "x"',
    "",
    "two\nlines",
    "{{x}}",
    "~",
  ),
  fc.string({ maxLength: 12, unit: "binary" }).filter((one) => one.isWellFormed()),
);
const change = fc.oneof(
  fc.record({
    field: fc.constant("tags"),
    value: fc.array(text.map((one) => one.trim()).filter(Boolean), { maxLength: 4 }),
  }),
  fc.record({
    field: fc.constantFrom("status", "a b", "x:y"),
    value: fc.oneof(text, fc.integer(), fc.boolean(), fc.array(text, { maxLength: 3 }), fc.constant(null)),
  }),
);
const page = fc.record({
  before: fc.array(fc.constantFrom(...OTHERS), { maxLength: 5 }),
  after: fc.array(fc.constantFrom(...OTHERS), { maxLength: 5 }),
  style: fc.option(fc.constantFrom(...FIELDS), { nil: undefined }),
  lineBreak: fc.constantFrom("\n", "\r\n"),
  mark: fc.constantFrom("", "\uFEFF"),
  body: fc.constantFrom("", "text", "# Title\n\n---\ntext\n", "\r\nodd\n"),
  change,
});

/** What came of the changes of one run. */
interface Tally {
  changed: number;
  refused: number;
  unreadable: number;
}

/** One random page, changed by the action: all bytes outside of the field stay, or it is refused and all do. */
export async function checkRandomPages(vault: string, numRuns: number): Promise<Tally> {
  const run = createRunner(createNotesIntegration(), { settings: { folder: vault } });
  const tally: Tally = { changed: 0, refused: 0, unreadable: 0 };
  await fc.assert(
    fc.asyncProperty(page, async ({ before, after, style, lineBreak, mark, body, change: { field, value } }) => {
      const lines = (all: readonly string[]) =>
        all
          .map((one) => `${one}\n`)
          .join("")
          .replaceAll("\n", lineBreak);
      const name = field === "x:y" ? '"x:y"' : field;
      // Names stand there once, but for the one that does not.
      const [first, second] = [[...new Set(before)], after.filter((one) => !before.includes(one))];
      const head = `${mark}---${lineBreak}${lines(first)}`;
      const own = style === undefined ? "" : lines([style(name.replaceAll('"', ""))]);
      const tail = `${lines([...new Set(second)])}---${lineBreak}${body}`;
      await writeFile(join(vault, "a.md"), `${head}${own}${tail}`);
      const args = field === "tags" ? { tags: value } : { properties: { [field]: value } };
      const outcome = await run("update_page", { page_id: "a.md", title: "a", ...args }).catch(
        (error: unknown) => error,
      );
      const left = await readFile(join(vault, "a.md"), "utf8");
      if (outcome instanceof ServiceError) {
        expect(left).toBe(`${head}${own}${tail}`);
        tally[outcome.status === 400 ? "refused" : "unreadable"] += 1;
        return;
      }
      expect(outcome).not.toBeInstanceOf(Error);
      tally.changed += 1;
      const end = style === undefined ? `---${lineBreak}${body}` : tail;
      const start = style === undefined ? `${head}${tail.slice(0, -end.length)}` : head;
      expect(left.startsWith(start), JSON.stringify({ left, start })).toBe(true);
      expect(left.endsWith(end), JSON.stringify({ left, end })).toBe(true);
      const { properties } = await run("read_page", { page_id: "a.md" });
      expect(properties[field] ?? null).toEqual(value);
    }),
    { numRuns },
  );
  return tally;
}

/** Real pages: tags and a text are added to each, and what was there before stays. */
export async function checkRealPages(vault: string, files: readonly string[]): Promise<Tally> {
  const run = createRunner(createNotesIntegration(), { settings: { folder: vault } });
  const tally: Tally = { changed: 0, refused: 0, unreadable: 0 };
  for (const file of files) {
    const before = await readFile(file, "utf8");
    writeFileSync(join(vault, "a.md"), before);
    const { title } = await run("read_page", { page_id: "a.md" });
    const target = { page_id: "a.md", title };
    const outcome = await run("update_page", {
      ...target,
      properties: { "added by us": ["x", "1"] },
      append: "end",
    }).catch((error: unknown) => error);
    const after = await readFile(join(vault, "a.md"), "utf8");
    if (outcome instanceof ServiceError) {
      expect(after).toBe(before);
      tally[outcome.status === 400 ? "refused" : "unreadable"] += 1;
      continue;
    }
    tally.changed += 1;
    const lineBreak = /\r?\n/.exec(before)?.[0] ?? "\n";
    const added = ["added by us:", "  - x", '  - "1"', ""].join(lineBreak);
    const end = after.slice(before.length + added.length);
    expect([`end${lineBreak}`, `${lineBreak}end${lineBreak}`]).toContain(end);
    expect(after.slice(0, after.length - end.length).replace(added, "")).toBe(before);
    await run("update_page", { ...target, properties: { "added by us": null } });
    expect(await readFile(join(vault, "a.md"), "utf8")).toBe(before + end);
  }
  return tally;
}
