import type { Item, Json } from "./notion-store.ts";
import { titleOf } from "./render-notion.ts";

/** The answer of all three Markdown endpoints: https://developers.notion.com/reference/retrieve-page-markdown */
export function renderMarkdown(page: Item): Json {
  const isPartial = page.unknown.length > 0;
  const parts = [
    page.text,
    ...listReferences(page)
      .filter((one) => !page.text.includes(addressOf(one)))
      .map(refer),
  ];
  const markdown = parts.filter((part) => part !== "").join("\n\n");
  return { object: "page_markdown", id: page.id, markdown, truncated: isPartial, unknown_block_ids: page.unknown };
}

/** Text as Notion keeps it: a comment is no construct of enhanced Markdown, so it is gone unless it was escaped. */
export function takeMarkdown(markdown: string): string {
  return markdown.replaceAll(/(?<!\\)<!--[\s\S]*?-->/g, "").trim();
}

/**
 * Carries out a command of https://developers.notion.com/reference/update-page-markdown, or says why Notion refuses it.
 */
export function changeMarkdown(page: Item, { type, ...payloads }: Json): string | undefined {
  if (Object.keys(payloads).join() !== type) return `body.${type} should be defined, and nothing else.`;
  const own = payloads[type];
  const text = type === "insert_content" ? insert(page.text, own) : replace(renderMarkdown(page).markdown, type, own);
  if (typeof text !== "string") return text.refused;
  const lost = listReferences(page).filter((one) => page.text.includes(addressOf(one)) || type === "replace_content");
  const deleted = lost.filter((one) => !text.includes(addressOf(one)));
  if (deleted.length > 0 && own.allow_deleting_content !== true)
    return `This operation would delete child pages or databases: ${deleted.map(titleOf).join(", ")}.`;
  page.text = takeMarkdown(text);
  return undefined;
}

function insert(text: string, { content, position, after }: Json): string | { refused: string } {
  if (typeof content !== "string" || content === "") return { refused: "insert_content.content should be a string." };
  if (after !== undefined) return { refused: "The test knows no selections." };
  const parts = position?.type === "start" ? [content, text] : [text, content];
  return parts.filter((part) => part !== "").join("\n\n");
}

function replace(text: string, type: string, own: Json): string | { refused: string } {
  if (type === "replace_content")
    return typeof own.new_str === "string" ? own.new_str : { refused: "new_str is missing." };
  if (type !== "update_content") return { refused: `body.type should be a known command, instead was ${type}.` };
  let changed = text;
  for (const { old_str, new_str, replace_all_matches } of own.content_updates) {
    const count = changed.split(old_str).length - 1;
    if (count === 0) return { refused: "old_str was not found in the page." };
    if (count > 1 && replace_all_matches !== true) return { refused: "old_str matches multiple locations." };
    changed = changed.replaceAll(old_str, () => new_str);
  }
  return changed;
}

const listReferences = (page: Item): Item[] =>
  page.children.filter(({ kind, isInTrash }) => !isInTrash && (kind === "page" || kind === "database"));

const addressOf = ({ id }: Item): string => `https://www.notion.so/${id.replaceAll("-", "")}`;

const refer = (one: Item): string =>
  one.kind === "page"
    ? `<page url="${addressOf(one)}">${titleOf(one)}</page>`
    : `<database url="${addressOf(one)}">${one.data.name}</database>`;
