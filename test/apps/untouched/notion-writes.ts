import { expect } from "vitest";
import type { Roll } from "../../fixtures/content-files.ts";
import type { Item, Json, NotionStore } from "../notion/kit/notion-store.ts";
import { renderMarkdown } from "../notion/kit/page-markdown.ts";
import { startNotion, TOKEN } from "../notion/kit/start-notion.ts";
import { type Account, type Holdings, leaveOut, type Outcome, pick, rollSome, type Write } from "./check-write.ts";

const ROOT = "00000000-0000-4000-8000-000000000000";
const toId = (number: number) => ROOT.slice(0, -4) + String(number).padStart(4, "0");
const FRONT_BLOCK = "```yaml\n# Properties\ntags:\n  - a\nzip: 01234\n```";
const TEXTS = ["text", "two\n\nblocks", "- [ ] do", "Grüße \\<b\\>", "```js\n<x>\n```", "| a | b |"] as [
  string,
  ...string[],
];
const richText = (content: string) => [{ type: "text", text: { content, link: null }, plain_text: content }];

/** A thing of a workspace: its kind, the one it is in, and what it holds; its text as the API gives it. */
function rollWorkspace(roll: Roll): Map<string, Json> {
  const things = new Map<string, Json>();
  const add = (kind: Item["kind"], parent: string | null, data: Json, text = "") => {
    const id = toId(things.size);
    things.set(id, { kind, parent, data, text, isInTrash: false, unknown: [] });
    return id;
  };
  const addPage = (parent: string | null, name = "title") => {
    const title = `Page ${things.size}`;
    const status = { id: "s", type: "rich_text", rich_text: richText("old") };
    const properties = {
      [name]: { id: "title", type: "title", title: richText(title) },
      ...(name === "Name" && { Status: status }),
    };
    const front = roll(2) === 0 ? [FRONT_BLOCK] : [];
    return add("page", parent, { properties }, [...front, ...rollSome(roll, TEXTS)].join("\n\n"));
  };
  const home = addPage(null);
  const pages = [home, ...Array.from({ length: 1 + roll(4) }, () => addPage(home))];
  const database = add("database", pick(roll, pages as [string, ...string[]]), { name: "Tasks" });
  const columns = {
    Name: { id: "title", type: "title", title: {} },
    Status: { id: "s", type: "rich_text", rich_text: {} },
  };
  const source = add("data_source", database, { name: "Tasks", properties: columns });
  for (let count = roll(3); count > 0; count -= 1) addPage(source, "Name");
  for (let count = roll(3); count > 0; count -= 1) addPage(pick(roll, pages as [string, ...string[]]));
  return things;
}

const paragraphs = (text: string) => text.split(/\n{2,}/).filter((one) => one !== "");
/** The paragraphs of a page without its front block. */
const textOf = (text: string) => paragraphs(text.replace(/^```yaml\n# Properties\n[\s\S]*?\n```/, ""));

interface NotionWrite {
  readonly id: string;
  readonly args: Record<string, unknown>;
  check(before: Json, after: Json): void;
}

const keepsText = ({ text }: Json, after: Json) => expect(textOf(after.text).sort()).toEqual(textOf(text).sort());
const NOTION: readonly NotionWrite[] = [
  {
    id: "update_page",
    args: { append: "Grüße <b>" },
    check(before, after) {
      expect(after.data).toEqual(before.data);
      expect(after.text.split("Grüße \\<b>")).toHaveLength(2);
      expect(paragraphs(after.text.replace("Grüße \\<b>", "")).sort()).toEqual(paragraphs(before.text).sort());
    },
  },
  {
    id: "update_page",
    args: { body: "new" },
    check(before, after) {
      expect(after.data).toEqual(before.data);
      const kept = /^```yaml\n# Prop|^<(?:page|database) /;
      const rest = (thing: Json) =>
        thing.text
          .split("\n")
          .filter((line: string) => kept.test(line))
          .sort();
      expect([rest(after), textOf(after.text).includes("new")]).toEqual([rest(before), true]);
      expect(after.text.includes("zip: 01234")).toBe(before.text.includes("zip: 01234"));
    },
  },
  {
    id: "update_page",
    args: { new_title: "New" },
    check(before, after) {
      const others = ({ title: _, Name: __, ...rest }: Json) => rest;
      expect([others(after.data.properties), after.text]).toEqual([others(before.data.properties), before.text]);
    },
  },
  ...[{ tags: ["c"] }, { properties: { status: "new", zip: "1" } }].map((args) => ({
    id: "update_page",
    args,
    check(before: Json, after: Json) {
      keepsText(before, after);
      const others = ({ Status: _, ...rest }: Json) => rest;
      expect(others(after.data.properties)).toEqual(others(before.data.properties));
      if ("tags" in args) expect(after.text.includes("zip: 01234")).toBe(before.text.includes("zip: 01234"));
    },
  })),
  {
    id: "delete_page",
    args: {},
    check: (before, after) => expect(after).toEqual({ ...before, isInTrash: true }),
  },
];

/** Every way to write into a workspace of Notion. */
export const NOTION_WRITES: readonly Write[] = [
  ...NOTION.map(({ id, args, check }) => ({
    title: `${id} with ${JSON.stringify(args)}`,
    roll(roll: Roll) {
      const all = rollWorkspace(roll);
      const [, ...pages] = [...all].flatMap(([one, { kind }]) => (kind === "page" ? [one] : []));
      const named = pick(roll, pages as [string, ...string[]]);
      const { title, Name = title } = all.get(named).data.properties;
      return {
        things: toHoldings(all),
        call: (run: Parameters<ReturnType<Write["roll"]>["call"]>[0]) =>
          run(id, { page_id: named, title: Name.title[0].plain_text, ...args }),
        check({ before, after }: Outcome) {
          // A page is named in the text of the one that it is in.
          const isNamed = (one: string) => one === named || one === all.get(named).parent;
          expect(leaveOut(after, isNamed)).toEqual(leaveOut(before, isNamed));
          check(JSON.parse(before.get(named) ?? ""), JSON.parse(after.get(named) ?? ""));
          const above = (things: Holdings) => {
            const { text, ...rest } = JSON.parse(things.get(all.get(named).parent) ?? "");
            return { ...rest, text: text.replace(new RegExp(`\\s*<page url="[^"]*${named.slice(-4)}">.*</page>`), "") };
          };
          expect(above(after)).toEqual(above(before));
        },
      };
    },
  })),
  {
    title: "create_page",
    roll(roll) {
      const all = rollWorkspace(roll);
      const isParent = ({ kind }: Json) => kind === "page" || kind === "data_source";
      const parents = [...all].flatMap(([one, thing]) => (isParent(thing) ? [one] : []));
      const parent = pick(roll, parents as [string, ...string[]]);
      return {
        things: toHoldings(all),
        call: (run) =>
          run("create_page", { title: "New", parent, tags: ["a"], properties: { status: "x" }, body: "text" }),
        check({ before, after, answer }) {
          const isNamed = (one: string) => one === parent || one === answer.page_id;
          expect(leaveOut(after, isNamed)).toEqual(leaveOut(before, isNamed));
          expect(after.size).toBe(before.size + 1);
          const { text, ...rest } = JSON.parse(after.get(parent) ?? "");
          const old = JSON.parse(before.get(parent) ?? "");
          expect({ ...rest, text: text.startsWith(old.text) }).toEqual({ ...old, text: true });
        },
      };
    },
  },
];

/** As {@link startNotionAccount} looks at it: with the references to what is in a page. */
function toHoldings(all: ReadonlyMap<string, Json>): Holdings {
  return new Map([...toItems(all)].map(([id, item]) => [id, describe(item)]));
}

function toItems(all: ReadonlyMap<string, Json>): Map<string, Item> {
  const items = new Map<string, Item>();
  const time = "2026-11-20T09:00:00.000Z";
  for (const [id, { parent: above, ...thing }] of all) {
    const parent = above === null ? undefined : items.get(above);
    const item = { ...structuredClone(thing), id, parent, children: [], created: time, edited: time, isIndexed: true };
    items.set(id, item);
    parent?.children.push(item);
  }
  return items;
}

function describe(item: Item): string {
  const { kind, parent, data, isInTrash, unknown } = item;
  return JSON.stringify({
    kind,
    parent: parent?.id ?? null,
    data,
    text: renderMarkdown(item).markdown,
    isInTrash,
    unknown,
  });
}

/** A workspace of Notion, and what it holds. */
export async function startNotionAccount(): Promise<Account & { readonly store: NotionStore; close(): Promise<void> }> {
  const { store, url, close } = await startNotion();
  return {
    store,
    settings: { notionToken: TOKEN, notionUrl: url, notionParent: ROOT },
    async fill(things) {
      const all = new Map([...things].map(([id, thing]) => [id, JSON.parse(thing)]));
      store.items.clear();
      for (const [id, item] of toItems(all)) store.items.set(id, item);
    },
    look: async () => new Map([...store.items].map(([id, item]) => [id, describe(item)])),
    close,
  };
}
