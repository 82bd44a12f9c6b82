import { sha256Hex } from "../../../shared/base/hash.ts";
import type { PageView } from "../notebook.ts";
import type { NotionClient } from "./notion-client.ts";
import type { NotionAfter } from "./notion-kept.ts";
import { type NotionPage, readTags, readValues } from "./notion-objects.ts";
import { summariseNotionPage } from "./notion-pages.ts";
import { type PageMarkdown, readFront, readMarkdown } from "./page-markdown.ts";

/** A page as a preview shows it. */
export function viewNotionPage(page: NotionPage, { body, yaml }: PageMarkdown): PageView {
  const front = readFront(yaml);
  const { title, path, modified } = summariseNotionPage(page);
  const tags = [...new Set([...readTags(page), ...front.tags])];
  return { title, path, modified, tags, body, properties: { ...readValues(page.properties), ...front.properties } };
}

/** All that a write of a page depends on. Its time alone says too little: it has no seconds. */
export function seeNotionPage(page: NotionPage, text: PageMarkdown): unknown {
  return [page.id, page.last_edited_time, hashNotionPage(page, text)];
}

/** Equal for what a page holds: its values and its text. */
export function hashNotionPage({ properties }: NotionPage, { frontText, body, isPartial }: PageMarkdown): string {
  const own = Object.entries(properties).filter(([, { type }]) => !COMPUTED.has(type));
  return sha256Hex(leaveOutPassing(JSON.stringify([own, frontText, body, isPartial])));
}

/** Equal for the values of a page besides those of these names. */
export function hashOtherValues({ properties }: NotionPage, names: readonly string[]): string {
  const own = Object.entries(properties).filter(([name, { type }]) => !COMPUTED.has(type) && !names.includes(name));
  return sha256Hex(leaveOutPassing(JSON.stringify(own)));
}

/** Values that nobody sets: they may be others with every look. */
const COMPUTED = new Set(["formula", "rollup", "last_edited_time", "last_edited_by"]);
const PASSING = /\?[^"\s)\\]*X-Amz-[^"\s)\\]*|"expiry_time":"[^"]*"/g;

/** A text without the signatures of Notion's own addresses of files, which it makes anew for every answer. */
export function leaveOutPassing(text: string): string {
  return text.replaceAll(PASSING, "");
}

/** How a write leaves a page. */
export function noteLeft(page: NotionPage, text: PageMarkdown): NotionAfter {
  return { id: page.id, edited: page.last_edited_time, hash: hashNotionPage(page, text) };
}

/** The same for a page whose text is not known yet; without its hash where it cannot be read now. */
export async function lookAtLeft(client: NotionClient, page: NotionPage): Promise<NotionAfter> {
  const text = await readMarkdown(client, page.id).catch(() => undefined);
  return text === undefined ? { id: page.id, edited: page.last_edited_time } : noteLeft(page, text);
}
