import { z } from "zod";
import { refuseValue } from "../../../service/service-error.ts";
import { changeFrontMatter, readFrontMatter } from "../front-matter.ts";
import type { NotionClient } from "./notion-client.ts";

/** Longest Markdown of one request, in bytes of JSON; Notion takes 500 KB in all. */
const MAX_BYTES = 490_000;

const markdownSchema = z.looseObject({
  object: z.literal("page_markdown"),
  markdown: z.string(),
  truncated: z.boolean(),
  unknown_block_ids: z.array(z.string()),
});

/** A code block at the top of a page: tags and properties that Notion has no column for. */
const FRONT = /^(`{3,})yaml\n# Properties\n((?:[^\n]*\n)*?)\1(?:\n+|$)/;

/** The text of a page in Notion's enhanced Markdown, without its front block. */
export interface PageMarkdown {
  /** The YAML of the front block; undefined without one. */
  readonly yaml: string | undefined;
  /** The front block as Notion writes it; empty without one. */
  readonly frontText: string;
  /** Ends with a line break unless it is empty. */
  readonly body: string;
  /** True when Notion left out blocks: too many, of unknown kinds, or not shared with the token. */
  readonly isPartial: boolean;
  /** All of it as Notion wrote it, with the front block. */
  readonly raw: string;
}

/** One command of Notion's Markdown API. */
export type MarkdownCommand =
  | { readonly type: "insert_content"; readonly content: string; readonly position: "start" | "end" }
  | { readonly type: "replace_content"; readonly newText: string }
  | { readonly type: "update_content"; readonly oldText: string; readonly newText: string };

/** Reads the whole text of a page. */
export async function readMarkdown(client: NotionClient, id: string): Promise<PageMarkdown> {
  const path = `pages/${encodeURIComponent(id)}/markdown`;
  const { markdown, truncated, unknown_block_ids } = await client.ask({ method: "GET", path, schema: markdownSchema });
  return parseMarkdown(markdown, truncated || unknown_block_ids.length > 0);
}

/** Takes the text of a page apart, as Notion wrote it. */
export function parseMarkdown(raw: string, isPartial: boolean): PageMarkdown {
  const found = FRONT.exec(raw);
  const body = fromEnhanced(raw.slice(found?.[0].length ?? 0)).trimEnd();
  return {
    yaml: found?.[2]?.trimEnd(),
    frontText: found?.[0].trimEnd() ?? "",
    body: body === "" ? "" : `${body}\n`,
    isPartial,
    raw,
  };
}

/** Changes the text of a page, and gives what it is then. Notion refuses to delete pages and databases inside it. */
export async function writeMarkdown(client: NotionClient, id: string, command: MarkdownCommand): Promise<PageMarkdown> {
  const path = `pages/${encodeURIComponent(id)}/markdown`;
  const body = { type: command.type, [command.type]: toPayload(command) };
  const asked = { method: "PATCH", path, body, schema: markdownSchema, isEffect: true } as const;
  const { markdown, truncated, unknown_block_ids } = await client.ask(asked);
  return parseMarkdown(markdown, truncated || unknown_block_ids.length > 0);
}

function toPayload(command: MarkdownCommand): unknown {
  if (command.type === "insert_content") return { content: command.content, position: { type: command.position } };
  if (command.type === "replace_content") return { new_str: command.newText };
  return { content_updates: [{ old_str: command.oldText, new_str: command.newText }] };
}

/** True for a text that Notion takes in one request. */
export function fitsRequest(markdown: string): boolean {
  return Buffer.byteLength(JSON.stringify(markdown)) <= MAX_BYTES;
}

/** Throws ServiceError 400 naming the argument when the text is longer than Notion takes in one request. */
export function checkLength(markdown: string, field: string): void {
  if (!fitsRequest(markdown))
    throw refuseValue(field, "is longer than Notion takes in one request.", "Write it in several parts, with append.");
}

const TAGS =
  "page|database|details|summary|callout|table|colgroup|col|tr|td|columns|column|synced_block\\w*|mention-\\w+|span|br|file|video|audio|pdf|image|empty-block|table_of_contents|unknown|meeting-notes";
/** Code, and intended enhanced Markdown syntax. */
const KEPT = [
  /^[ \t]*(?<fence>`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\k<fence>)[^\n]*)*(?:\n[^\n]*)?/,
  /(?<!`)(?<ticks>`+)(?!`)[^\n]{0,1000}?[^`\n]\k<ticks>(?!`)/,
  /\\[!-/:-@[-`{-~]/,
  new RegExp(`</?(?:${TAGS})(?=[\\s/>])[^<>]{0,500}>`),
  /<(?:https?:|mailto:)[^\s<>]{1,2000}>/,
  /\{(?:(?:color|toggle|icon)="[^"\n]{0,100}"[ \t]*){1,3}\}/,
  /\$\$[^$]{1,500}\$\$/,
  /\$(?=\S)[^$\n]{1,200}(?<=\S)\$(?!\d)/,
].map(({ source }) => source);
const SPECIAL = new RegExp(`${KEPT.join("|")}|(?<special>[<{}$^])`, "gm");

/** Standard Markdown as enhanced Markdown: characters with a meaning only there, as in comments and prices, are escaped. */
export function toEnhanced(markdown: string): string {
  return markdown.replaceAll(SPECIAL, (found: string, ...rest) => {
    const { special } = rest.at(-1) as { special?: string };
    return special === undefined ? found : `\\${special}`;
  });
}

/** Reverses {@link toEnhanced}, on each line where that is certain. */
function fromEnhanced(markdown: string): string {
  return markdown.replaceAll(
    /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*(?:\n[^\n]*)?|[^\n]+/gm,
    (part, fence) => {
      const plain = fence === undefined ? part.replaceAll(/\\([<{}$^])/g, "$1") : part;
      return toEnhanced(plain) === part ? plain : part;
    },
  );
}

const CODE = /^[ \t]*(`{3,}|~{3,})[^\n]*(?:\n(?![ \t]*\1)[^\n]*)*|(`+)[^`\n]+\2/gm;
const CHILD = /<(page|database)\b[^<>]*\burl="([^"]+)"[^<>]*>([^<]*)<\/\1>/g;
const UNWRITABLE =
  /(?<!\\)<(?:unknown\b[^<>]*\balt="(?<alt>[^"]+)"|(?<tag>unknown|file|video|audio|pdf|columns|synced_block|meeting-notes|table_of_contents)\b)|!\[[^\]\n]*\]\([^)\s]*(?<image>X-Amz-)/g;

/**
 * The old text's references to pages and databases inside the page, which new text needs so that they stay. Throws
 * ServiceError 400 where the old text holds more than Markdown can write again.
 */
export function keepChildren({
  body,
  isPartial,
}: PageMarkdown): readonly { readonly url: string; readonly tag: string }[] {
  const text = body.replaceAll(CODE, "");
  const kinds = [...text.matchAll(UNWRITABLE)].map(({ groups }) =>
    groups?.image === undefined ? (groups?.alt ?? groups?.tag ?? "") : "image",
  );
  const lost = new Set([...kinds, ...(isPartial && kinds.length === 0 ? ["blocks that Notion left out"] : [])]);
  if (lost.size > 0)
    throw refuseValue(
      "body",
      `would lose what Markdown cannot hold: ${[...lost].join(", ").replaceAll(/[_-]/g, " ")}.`,
      "Add text with append, or have a human change the page in Notion.",
    );
  return [...text.matchAll(CHILD)].map(([tag, , url = ""]) => ({ tag, url }));
}

/** Titles of the pages and databases inside a page. */
export function listChildTitles({ body }: PageMarkdown): string[] {
  return [...body.replaceAll(CODE, "").matchAll(CHILD)].map(([, , , title = ""]) => title);
}

/** Tags and properties of a front block, and why it cannot be read. */
export function readFront(yaml: string | undefined) {
  const { properties, problem } = readFrontMatter(yaml);
  const { tags, ...others } = properties;
  const list = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  return { tags: list, properties: others, problem };
}

/** The front block with these changes (null removes one); empty when nothing is left. */
export function writeFront(yaml: string | undefined, changes: Readonly<Record<string, unknown>>): string {
  const changed = changeFrontMatter(yaml === undefined ? "" : `${yaml}\n`, changes, { fields: { tags: "tags" } });
  if (changed.trim() === "") return "";
  const longest = Math.max(2, ...[...changed.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}yaml\n# Properties\n${changed.trimEnd()}\n${fence}`;
}
