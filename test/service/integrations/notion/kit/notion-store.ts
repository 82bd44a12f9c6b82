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
}

/** What a workspace of Notion holds, and its limits. */
export class NotionStore {
  readonly items = new Map<string, Item>();
  #clock = Date.UTC(2026, 10, 20, 9);

  add(kind: Item["kind"], parent: Item | undefined, data: Json, at = parent?.children.length ?? 0): Item {
    this.#clock += 60_000;
    const time = new Date(this.#clock).toISOString();
    const own = { children: [], created: time, edited: time, isInTrash: false, isIndexed: kind !== "block" };
    const item: Item = { id: randomUUID(), kind, parent, data, ...own };
    this.items.set(item.id, item);
    parent?.children.splice(at, 0, item);
    return item;
  }

  /** Adds blocks as a request names them. */
  addBlocks(parent: Item, blocks: readonly Json[], at = parent.children.length): Item[] {
    return blocks.map((block, index) => {
      const type = block.type ?? Object.keys(block).find((key) => key !== "object");
      const { children = [], ...own } = block[type];
      const item = this.add("block", parent, { type, [type]: complete(own) }, at + index);
      this.addBlocks(item, children);
      return item;
    });
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

/** Why Notion would refuse these blocks; undefined when it would not. */
export function judgeBlocks(blocks: Json, path = "body.children", depth = 0): string | undefined {
  if (blocks === undefined) return undefined;
  if (!Array.isArray(blocks)) return `${path} should be an array.`;
  if (blocks.length > 100) return `${path}.length should be ≤ \`100\`, instead was \`${blocks.length}\`.`;
  if (depth > 1) return `${path} is nested deeper than two levels.`;
  for (const [index, block] of blocks.entries()) {
    const own = block[block.type];
    if (own === undefined) return `${path}[${index}] should have a type.`;
    const problem = judgeText(own, `${path}[${index}].${block.type}`);
    if (problem !== undefined) return problem;
    if (block.type === "table" && !own.children?.length) return `${path}[${index}].table.children should be defined.`;
    const below = judgeBlocks(own.children, `${path}[${index}].${block.type}.children`, depth + 1);
    if (below !== undefined) return below;
  }
  const count = (all: Json[]): number => all.reduce((sum, one) => sum + 1 + count(one[one.type]?.children ?? []), 0);
  return depth === 0 && count(blocks) > 1000 ? "body has more than 1000 blocks." : undefined;
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
