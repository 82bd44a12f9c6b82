import { sha256Hex } from "../../../shared/base/hash.ts";
import type { KeptChange } from "./notion-kept.ts";
import { type NotionPage, readTitle } from "./notion-objects.ts";
import { fitsRequest, type PageMarkdown } from "./page-markdown.ts";
import { hasValue, toWritable } from "./property-values.ts";
import { hashNotionPage, hashOtherValues, viewNotionPage } from "./see-page.ts";
import { listWords } from "./text-edits.ts";
import type { NotionChange } from "./write-notion-page.ts";

/** Longest text that is kept, in bytes of JSON. */
const MAX_KEPT_BYTES = 4 * 1024 * 1024;

type Planned = Pick<NotionChange, "values" | "commands" | "old">;

/** True where a change writes the whole text of a page anew. */
export function isReplaced({ commands }: Pick<Planned, "commands">): boolean {
  return commands.some(({ type }) => type === "replace_content");
}

/** True where a change leaves a page another one than it is. */
export function changesAnything(page: NotionPage, { values, commands, old }: Planned): boolean {
  const isOther = Object.entries(values).some(([name, value]) => !hasValue(page.properties[name], value));
  return isOther || commands.some((command) => command.type !== "replace_content" || command.newText !== old.raw);
}

/** Why a change cannot be taken back with what Notion's API offers, as a sentence; undefined where it can. */
export function explainFinal(page: NotionPage, plan: Planned): string | undefined {
  const { values, commands, old } = plan;
  const odd = Object.entries(values).find(([name, value]) => toOld(page, name, value) === undefined);
  if (odd !== undefined) return `The API of Notion does not take the old value of "${odd[0]}" back.`;
  if (commands.length === 0) return undefined;
  if (old.isPartial) return "Notion does not show the whole text of this page.";
  if (isReplaced(plan) ? !fitsRequest(old.raw) : isLong(old)) return "The old text is too long to be written again.";
  return undefined;
}

function isLong({ raw }: PageMarkdown): boolean {
  return Buffer.byteLength(JSON.stringify(raw)) > MAX_KEPT_BYTES;
}

/** The value that a page has now, as a request takes it, by the one that is to be set. */
function toOld({ properties }: NotionPage, name: string, value: unknown) {
  const [type = ""] = Object.keys(Object(value));
  return toWritable(properties[name], type);
}

/** What a change keeps before it is made. */
export function keepChange(page: NotionPage, plan: NotionChange): KeptChange {
  const { values, commands, old, tags } = plan;
  const final = explainFinal(page, plan);
  const oldValues = Object.keys(values).map((name) => [name, toOld(page, name, values[name]) ?? null]);
  const { title, tags: oldTags, properties } = viewNotionPage(page, old);
  const wanted = listWords(composeText(plan));
  const isOther = Object.entries(values).some(([name, value]) => !hasValue(page.properties[name], value));
  return {
    on: "notion",
    write: "change",
    id: page.id,
    title: readTitle(page),
    was: hashNotionPage(page, old),
    values,
    oldValues: Object.fromEntries(oldValues),
    others: hashOtherValues(page, Object.keys(values)),
    before: { title, tags: [...oldTags], properties: { ...properties } },
    tags: [...tags],
    words: sha256Hex(wanted),
    isTold: isOther || wanted !== listWords(old.raw),
    ...(commands.length > 0 && final === undefined && { text: { raw: old.raw, isReplaced: isReplaced(plan) } }),
    ...(final !== undefined && { final }),
  };
}

/** What the text is to become, as far as its words go. */
function composeText({ commands, old }: Planned): string {
  let [front, body, added] = [old.frontText, old.raw.slice(old.frontText.length), ""];
  for (const command of commands) {
    if (command.type === "replace_content") return command.newText;
    if (command.type === "update_content") front = command.newText;
    else if (command.position === "start") front = command.content;
    else added = command.content;
  }
  body = [front, body, added].join("\n\n");
  return body;
}
