import { html } from "hono/html";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { Markup } from "./page.ts";
import { foldedText } from "./values.ts";

/** Texts that could be taken for JSON. */
const LIKE_JSON = /^(?:["[{\d-]|(?:true|false|null)$|$)/;
/** In a text of up to so many characters, spaces at its ends would be overlooked. */
const SHORT = 80;

/**
 * A value as the page of a request writes it; only this one value is written so. A text without quotes is that text,
 * character by character. Anything else is JSON, in which characters that show nothing or turn the text around are
 * `\uXXXX`.
 */
export function writeExactly(value: unknown): string {
  if (typeof value === "string" && isPlain(value)) return value;
  return toPlainText(JSON.stringify(value, null, 2) ?? "null", { ...EXACT, keepLines: true });
}

function isPlain(text: string): boolean {
  const hasHidden = toPlainText(text, { ...EXACT, keepLines: true }) !== text;
  return !hasHidden && !LIKE_JSON.test(text) && (text.trim() === text || text.length > SHORT);
}

/** {@link writeExactly} on a page; the end of a long value is folded and counted. */
export function exactValue(value: unknown): Markup {
  const text = writeExactly(value);
  return foldedText(text, text === value ? markHeadings : breakLines);
}

/** Markdown stays its own source, so that it cannot hide anything: only its headings are bold. */
export function markHeadings(text: string): Markup {
  const parts = text.split(/^(#{1,6} .*)$/m);
  return html`${parts.map((part, index) => (index % 2 === 1 ? html`<strong>${part}</strong>` : part))}`;
}

/** Begins a new line after each `\n` of JSON; `<br>` adds no character to the text. */
function breakLines(json: string): Markup {
  const lines = json.split(/(?<=(?<!\\)(?:\\\\)*\\n)/);
  return html`${lines.map((line, index) => (index === 0 ? line : html`<br>${line}`))}`;
}
