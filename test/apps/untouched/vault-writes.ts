import { expect } from "vitest";
import type { Roll } from "../../fixtures/content-files.ts";
import { leaveOut, type Outcome, pick, rollSome, type Write } from "./check-write.ts";

const FOLDERS = ["", "", "Work/", "Wörk & co/2026/"] as [string, ...string[]];
const LINES = ["text", "", "---", "- [ ] do <b>", "a  ", "# Head", "Grüße 💡", "```", "$5 {x}"] as [
  string,
  ...string[],
];
const FRONT = ["zip: 01234", "up: [[Home]]", "id: x", "id: y", "day:   2026-11-20 # c", "'it''s': \"q\""] as [
  string,
  ...string[],
];
const STAMP = /^updated: .*\r?\n/m;

/** A page of a vault, with a byte order mark, front matter and line ends as programs leave them. */
function rollPage(roll: Roll, title: string): string {
  const end = pick(roll, ["\n", "\n", "\r\n"]);
  const tags = pick(roll, [[], ["tags: [a, b]"], ["tags:", "  - a", "- b".padStart(5)]]);
  const stamp = roll(2) === 0 ? ["updated: 2026-01-01T00:00:00.000Z"] : [];
  const front = [`title: ${title}`, ...rollSome(roll, FRONT), ...tags, ...stamp].map((line) => `${line}${end}`);
  const head = `${roll(4) === 0 ? "\uFEFF" : ""}---${end}${front.join("")}---${end}`;
  const body = [...rollSome(roll, LINES), pick(roll, ["", "end"])].join(end);
  return Buffer.from(`${head}${body}`).toString("latin1");
}

interface PageWrite {
  readonly id: string;
  readonly args: Record<string, unknown>;
  /** Compares the page that it names, as text. */
  check(before: string, after: string | undefined, title: string): void;
}

/** The body of a page of a vault, and the lines of its front matter that do not belong to a field. */
const bodyOf = (page: string) => page.replace(/^\uFEFF?---\r?\n[\s\S]*?\n---\r?\n/, "");
const frontOf = (page: string, field?: string) => {
  const lines = page
    .slice(0, page.length - bodyOf(page).length)
    .replace(STAMP, "")
    .split(/(?<=\n)/);
  const own = lines.findIndex((line) => field !== undefined && line.startsWith(`${field}:`));
  const end = lines.findIndex((line, index) => index > own && !/^\s+-/.test(line));
  return own < 0 ? lines : lines.toSpliced(own, end - own);
};
const changes = (args: Record<string, unknown>, check: PageWrite["check"]): PageWrite => ({
  id: "update_page",
  args,
  check,
});
const setsField = (args: Record<string, unknown>, field: string) =>
  changes(args, (before, after = "") => {
    expect(after).not.toBe(before);
    expect([frontOf(after, field), bodyOf(after)]).toEqual([frontOf(before, field), bodyOf(before)]);
  });

const VAULT: readonly PageWrite[] = [
  changes({ append: "Grüße\n- b" }, (before, after = "") => {
    const end = /\r?\n/.exec(before)?.[0] ?? "\n";
    const start = bodyOf(before).replace(/([^\n])$/, `$1${end}`);
    expect([frontOf(after), bodyOf(after)]).toEqual([frontOf(before), `${start}Grüße${end}- b${end}`]);
  }),
  changes({ body: "new\n" }, (before, after = "") => {
    expect([frontOf(after), bodyOf(after).trimEnd()]).toEqual([frontOf(before), "new"]);
  }),
  setsField({ new_title: "Ü: new" }, "title"),
  setsField({ tags: ["c", "01"] }, "tags"),
  setsField({ properties: { status: "open: yes" } }, "status"),
  { id: "delete_page", args: {}, check: (_, after) => expect(after).toBeUndefined() },
];

const decode = (bytes: string | undefined) =>
  bytes === undefined ? undefined : Buffer.from(bytes, "latin1").toString();
const isKept = (path: string) => path.startsWith(".trash/");

/** Every way to write into a vault. */
export const VAULT_WRITES: readonly Write[] = [
  ...VAULT.map(({ id, args, check }) => ({
    title: `${id} with ${JSON.stringify(args)}`,
    roll(roll: Roll) {
      const titles = ["One", "Two", "Zwei: \u00e4"].map(
        (title, index) => [`${pick(roll, FOLDERS)}${index}.md`, title] as const,
      );
      const pages = titles.map(([path, title]) => [path, rollPage(roll, JSON.stringify(title))] as const);
      const things = new Map([...pages, [".obsidian/app.json", "{}"], ["Work/a.png", "\u0089PNG"], ["b.MD.txt", "x"]]);
      const [path, title] = pick(roll, titles as [(typeof titles)[number], ...typeof titles]);
      const old = things.get(path) ?? "";
      const [, own] = /^id: (.)/m.exec(old) ?? [];
      return {
        things,
        call: (run: Parameters<ReturnType<Write["roll"]>["call"]>[0]) =>
          run(id, { page_id: own !== undefined && roll(2) === 0 ? own : path, title, ...args }),
        check({ after }: Outcome) {
          const isNamed = (one: string) => one === path || isKept(one);
          expect(leaveOut(after, isNamed)).toEqual(leaveOut(things, isNamed));
          expect([...after].flatMap(([one, bytes]) => (isKept(one) && bytes !== old ? [bytes] : []))).toEqual([]);
          check(decode(old) ?? "", decode(after.get(path)), title);
        },
      };
    },
  })),
  {
    title: "create_page",
    roll(roll) {
      const things = new Map(
        ["New", "new", "Other"].map((name) => [`${pick(roll, FOLDERS)}${name}.md`, rollPage(roll, name)]),
      );
      const parent = pick(roll, ["", "Work", "Made/here"]);
      return {
        things,
        call: (run) => run("create_page", { title: "New", parent, tags: ["a"], body: "text" }),
        check({ after, answer }) {
          const isNew = (path: string) => !things.has(path);
          expect(leaveOut(after, isNew)).toEqual(leaveOut(things, isNew));
          expect([...after.keys()].filter(isNew)).toEqual([answer.path]);
        },
      };
    },
  },
];
