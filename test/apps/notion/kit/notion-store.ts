import { randomUUID } from "node:crypto";

/** JSON of the API, as loosely as the tests look at it. */
// biome-ignore lint/suspicious/noExplicitAny: objects of many shapes, each checked where it arrives
export type Json = any;

/** Something of a workspace: a page, a block, a database or a data source, with what is in it. */
export interface Item {
  readonly id: string;
  readonly kind: "page" | "block" | "database" | "data_source";
  readonly parent: Item | undefined;
  /** Blocks and pages of a page or block; pages of a data source. */
  readonly children: Item[];
  readonly created: string;
  edited: string;
  isInTrash: boolean;
  /** False until Notion's search knows of it. */
  isIndexed: boolean;
  /** `properties` of pages and data sources; type and own object of blocks. */
  data: Json;
  /** A page's own text in enhanced Markdown. */
  text: string;
  /** Ids of blocks that the Markdown API cannot show. */
  readonly unknown: string[];
}

/** What a workspace of Notion holds, and its limits. */
export class NotionStore {
  readonly items = new Map<string, Item>();
  #clock = Date.UTC(2026, 10, 20, 9);

  add(kind: Item["kind"], parent: Item | undefined, data: Json, at = parent?.children.length ?? 0): Item {
    this.#clock += 60_000;
    const time = new Date(this.#clock).toISOString();
    const own = { children: [], created: time, edited: time, isInTrash: false, isIndexed: kind !== "block" };
    const content = { text: "", unknown: [] };
    const item: Item = { id: randomUUID(), kind, parent, data, ...own, ...content };
    this.items.set(item.id, item);
    parent?.children.splice(at, 0, item);
    return item;
  }

  touch(item: Item): void {
    this.#clock += 60_000;
    for (let one: Item | undefined = item; one !== undefined; one = one.parent) {
      one.edited = new Date(this.#clock).toISOString();
      if (one.kind === "page") return;
    }
  }

  list(kind: Item["kind"]): Item[] {
    return [...this.items.values()].filter((item) => item.kind === kind);
  }
}

/** Adds what Notion adds to text: what it looks like as plain text, and every annotation. */
export function complete(value: Json): Json {
  if (Array.isArray(value)) return value.map(complete);
  if (typeof value !== "object" || value === null) return value;
  if (value.text?.content === undefined) {
    return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, complete(one)]));
  }
  const plain = { bold: false, italic: false, strikethrough: false, underline: false, code: false, color: "default" };
  return {
    type: "text",
    text: { content: value.text.content, link: value.text.link ?? null },
    annotations: { ...plain, ...value.annotations },
    plain_text: value.text.content,
    href: value.text.link?.url ?? null,
  };
}

/** Why Notion would refuse these texts. */
export function judgeText(value: Json, path: string): string | undefined {
  if (Array.isArray(value)) {
    if (value.length > 100) return `${path}.length should be ≤ \`100\`, instead was \`${value.length}\`.`;
    return value.map((one, index) => judgeText(one, `${path}[${index}]`)).find((one) => one !== undefined);
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { content, link } = value.text ?? {};
  if (content !== undefined) {
    if (content.length > 2000) return `${path}.text.content.length should be ≤ \`2000\`.`;
    if (!content.isWellFormed()) return `${path}.text.content should be text.`;
    if (link && !/^(https?:\/\/|mailto:)/.test(link.url)) return `Invalid URL for link.`;
    return undefined;
  }
  if (value.expression?.length > 1000) return `${path}.expression.length should be ≤ \`1000\`.`;
  const parts = Object.entries(value).filter(([key]) => key !== "children");
  return parts.map(([key, one]) => judgeText(one, `${path}.${key}`)).find((one) => one !== undefined);
}
