import { z } from "zod";
import { toPageUrl } from "./notion-id.ts";
import { type Block, type RichText, richTextSchema, toPlainText } from "./notion-objects.ts";
import type { BlockNode } from "./read-blocks.ts";
import { richTextToLine, richTextToMarkdown } from "./rich-text-to-markdown.ts";

const textSchema = z.looseObject({ rich_text: z.array(richTextSchema).default([]) });
const captionSchema = z.looseObject({ caption: z.array(richTextSchema).default([]) });
const addressSchema = z.union([
  z.looseObject({ url: z.string() }).transform(({ url }) => url),
  z.looseObject({ external: z.looseObject({ url: z.string() }) }).transform(({ external }) => external.url),
]);
const rowSchema = z.looseObject({ cells: z.array(z.array(richTextSchema)) });

const LISTS: ReadonlySet<string> = new Set(["bulleted_list_item", "numbered_list_item", "to_do", "toggle"]);
/** What Markdown holds and {@link markdownToBlocks} writes; pictures only when they lie elsewhere. */
const WRITABLE: ReadonlySet<string> = new Set([
  ...LISTS,
  ...["paragraph", "quote", "callout", "code", "divider", "equation", "table", "table_row", "image", "bookmark"],
  ...["heading_1", "heading_2", "heading_3", "heading_4"],
]);

/** Turns blocks into Markdown one after another, with what stands between them. */
export interface MarkdownWriter {
  /** The text of a block, with the empty line before it. */
  write(node: BlockNode): string;
}

/** Creates a writer for one row of neighbours. */
export function createMarkdownWriter(): MarkdownWriter {
  let last: string | undefined;
  let number = 0;
  return {
    write(node) {
      const { type } = node.block;
      number = type === "numbered_list_item" ? number + 1 : 0;
      const text = writeBlock(node, number);
      if (text === "") return "";
      const isNext = last !== undefined && LISTS.has(type) && LISTS.has(last);
      const gap = last === undefined ? "" : isNext ? "\n" : "\n\n";
      last = type;
      return `${gap}${text}`;
    },
  };
}

/** Kinds of blocks in these that Markdown cannot hold, so that they would be lost if the text were written again. */
export function listUnwritable(nodes: readonly BlockNode[]): string[] {
  return nodes.flatMap(({ block, children, isCut }) => {
    const isHosted = block.type === "image" && readAddress(block) === undefined;
    const own = WRITABLE.has(block.type) && !isHosted && !isCut ? [] : [block.type];
    return [...own, ...listUnwritable(children)];
  });
}

function writeAll(nodes: readonly BlockNode[]): string {
  const writer = createMarkdownWriter();
  return nodes.map((node) => writer.write(node)).join("");
}

function writeBlock(node: BlockNode, number: number): string {
  const { block, children } = node;
  const { type } = block;
  if (type === "numbered_list_item") return writeItem(`${number}. `, node);
  if (type === "to_do") return writeItem(readMember(block, "checked") === true ? "- [x] " : "- [ ] ", node);
  if (LISTS.has(type)) return writeItem("- ", node);
  if (type === "quote" || type === "callout") return writeQuote(node);
  if (type === "table") return writeTable(children);
  const own = writeOwn(block);
  const below = node.isCut ? name("more, nested too deep") : writeAll(children);
  return [own, below].filter((text) => text !== "").join("\n\n");
}

/** A block's own text, without its children. */
function writeOwn(block: Block): string {
  const { type } = block;
  if (type === "paragraph") return writeParagraph(readText(block));
  if (type.startsWith("heading_")) {
    const level = Number(type.at(-1)) || 1;
    return `${"#".repeat(level)} ${richTextToLine(readText(block))}`;
  }
  if (type === "code") return writeCode(block);
  if (type === "divider") return "---";
  if (type === "equation") return `$$\n${String(readMember(block, "expression") ?? "")}\n$$`;
  if (type === "child_page") return link(`Page: ${String(readMember(block, "title") ?? "")}`, toPageUrl(block.id));
  if (type === "child_database")
    return link(`Database: ${String(readMember(block, "title") ?? "")}`, toPageUrl(block.id));
  if (type === "link_to_page") return writePageLink(block);
  // These only arrange what is in them.
  if (type === "column_list" || type === "column" || type === "synced_block") return "";
  return writeMedia(block);
}

/** A line that would begin something else is kept from it; a comment stays as it was written. */
function writeParagraph(runs: readonly RichText[]): string {
  const plain = runs.map((run) => run.plain_text).join("");
  if (/^<!--[\s\S]*-->$/.test(plain)) return plain;
  return richTextToMarkdown(runs)
    .split("\n")
    .map((line) =>
      line
        .replace(/^(\s*)(#{1,6}(?=\s|$)|[-+*>](?=\s|$)|[-=]+\s*$|~{3,}|\$\$|\|)/, "$1\\$2")
        .replace(/^(\s*\d{1,9})([.)])(?=\s|$)/, "$1\\$2"),
    )
    .join("\n");
}

function writeItem(mark: string, { block, children, isCut }: BlockNode): string {
  const indent = " ".repeat(/^\d/.test(mark) ? mark.length : 2);
  const own = richTextToMarkdown(readText(block)).replaceAll("\n", `\n${indent}`);
  const below = isCut ? name("more, nested too deep") : writeAll(children);
  if (below === "") return `${mark}${own}`.trimEnd();
  const gap = LISTS.has(children[0]?.block.type ?? "") ? "\n" : "\n\n";
  return `${mark}${own}${gap}${below.replaceAll(/^(?=.)/gm, indent)}`;
}

function writeQuote({ block, children, isCut }: BlockNode): string {
  const icon = z.looseObject({ emoji: z.string() }).safeParse(readMember(block, "icon")).data?.emoji;
  const own = `${icon === undefined ? "" : `${icon} `}${writeParagraph(readText(block))}`;
  const below = isCut ? name("more, nested too deep") : writeAll(children);
  const text = [own, below].filter((one) => one !== "").join("\n\n");
  return text.replaceAll(/^/gm, "> ").replaceAll(/ +$/gm, (spaces) => (spaces.length > 1 ? "  " : ""));
}

function writeCode(block: Block): string {
  const code = readText(block)
    .map((run) => run.plain_text)
    .join("");
  const language = String(readMember(block, "language") ?? "");
  const caption = toPlainText(readMember(block, "caption")).replaceAll(/[\s`]+/g, " ");
  const info = language === "plain text" ? caption : `${language.replaceAll(" ", "-")} ${caption}`.trim();
  const longest = Math.max(2, ...[...code.matchAll(/^ {0,3}(`{3,})/gm)].map(([, ticks = ""]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${info}\n${code}\n${fence}`;
}

function writeTable(rows: readonly BlockNode[]): string {
  const lines = rows.map(({ block }) => {
    const cells = rowSchema.safeParse(block.table_row).data?.cells ?? [];
    return `| ${cells.map((cell) => richTextToLine(cell).replaceAll("|", "\\|")).join(" | ")} |`;
  });
  const width = rowSchema.safeParse(rows[0]?.block.table_row).data?.cells.length ?? 0;
  return [...lines.slice(0, 1), `|${" --- |".repeat(width)}`, ...lines.slice(1)].join("\n");
}

function writePageLink(block: Block): string {
  const ids = [readMember(block, "page_id"), readMember(block, "database_id")];
  const id = ids.find((one) => typeof one === "string");
  return id === undefined ? name(block.type) : link("Linked page", toPageUrl(String(id)));
}

/** Pictures and links as such; everything else is named, with its address where it has a lasting one. */
function writeMedia(block: Block): string {
  const { type } = block;
  const url = readAddress(block);
  const caption = richTextToLine(captionSchema.safeParse(block[type]).data?.caption ?? []);
  if (type === "image" && url !== undefined) return `![${caption}](${url})`;
  if (url !== undefined && /^(bookmark|link_preview)$/.test(type)) return link(caption || url, url);
  const file = readMember(block, "name");
  const words = [type.replaceAll("_", " "), ...(typeof file === "string" && file !== "" ? [`"${file}"`] : [])].join(
    " ",
  );
  const named = url === undefined ? name(words) : link(`Notion: ${words}`, url);
  const text = richTextToMarkdown(readText(block));
  return [named, caption, text].filter((one) => one !== "").join(" ");
}

function name(words: string): string {
  return `[Notion: ${words}]`;
}

function link(words: string, url: string): string {
  return `[${words.replaceAll(/[[\]\n]/g, " ")}](${url.replaceAll(/[()\s]/g, (one) => `%${one.charCodeAt(0).toString(16)}`)})`;
}

function readText(block: Block): readonly RichText[] {
  return textSchema.safeParse(block[block.type]).data?.rich_text ?? [];
}

/** An address that lasts: those of files in Notion are good for an hour. */
function readAddress(block: Block): string | undefined {
  return addressSchema.safeParse(block[block.type]).data;
}

function readMember(block: Block, member: string): unknown {
  const own = z.record(z.string(), z.unknown()).safeParse(block[block.type]);
  return own.success ? own.data[member] : undefined;
}
