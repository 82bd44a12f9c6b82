import { foldText } from "../../base/text.ts";

const SNIPPET_LENGTH = 160;

/** The part of a text around the first word of a search. */
export function cutSnippet(text: string, words: readonly string[]): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  const at = Math.max(0, ...words.map((word) => foldText(flat).indexOf(word)));
  const from = Math.max(0, at - SNIPPET_LENGTH / 2);
  const cut = flat.slice(from, from + SNIPPET_LENGTH).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_LENGTH < flat.length ? "…" : ""}`;
}
