import type { PageSummary } from "./notebook.ts";

const SNIPPET_LENGTH = 160;

/** The words of a search, all of which must occur. */
export function toWords(query: string): string[] {
  return fold(query)
    .split(/\s+/)
    .filter((word) => word !== "");
}

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** How well a page answers the words: title before tags and path before text; 0 when a word is missing. */
export function scorePage(page: PageSummary, text: string, words: readonly string[]): number {
  const title = fold(page.title);
  const tags = fold(`${page.tags.join(" ")} ${page.path}`);
  const body = fold(text);
  let total = 0;
  for (const word of words) {
    const points = (title.includes(word) ? 10 : 0) + (tags.includes(word) ? 4 : 0) + (body.includes(word) ? 1 : 0);
    if (points === 0) return 0;
    total += points;
  }
  return total;
}

/** The part of a text around the first word of a search. */
export function cutSnippet(text: string, words: readonly string[]): string {
  const flat = text.replaceAll(/\s+/g, " ").trim();
  const at = Math.max(0, ...words.map((word) => fold(flat).indexOf(word)));
  const from = Math.max(0, at - SNIPPET_LENGTH / 2);
  const cut = flat.slice(from, from + SNIPPET_LENGTH).toWellFormed();
  return `${from > 0 ? "…" : ""}${cut}${from + SNIPPET_LENGTH < flat.length ? "…" : ""}`;
}
