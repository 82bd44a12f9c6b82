import { html } from "hono/html";
import { cutText, readableTime } from "../../../base/text.ts";
import { EXACT, toPlainText } from "../../../wire/plain-text.ts";
import type { Markup } from "./page.ts";

/** Longest text of one value that is shown at once, in characters; the rest can be opened below it. */
const MAX_TEXT = 2000;
/** Most entries of one list that are shown at once; the others can be opened below them. */
const MAX_ENTRIES = 50;
/** Below this depth values are shown as JSON. */
const MAX_DEPTH = 4;

/** Any JSON value as a person reads it: names and values, lists, times, texts with their line breaks. */
export function dataView(value: unknown, depth = 0): Markup {
  if (Array.isArray(value)) {
    if (value.length === 0) return html`<span class="muted">none</span>`;
    if (value.every(isWord)) return textView(value.join(", "));
    const items = value.map((entry) => html`<li>${dataView(entry, depth + 1)}</li>`);
    const rest = items.length - MAX_ENTRIES;
    return html`<ol class="data">${items.slice(0, MAX_ENTRIES)}</ol>${rest > 0 ? html`<details><summary>${rest} more</summary><ol class="data" start="${MAX_ENTRIES + 1}">${items.slice(MAX_ENTRIES)}</ol></details>` : ""}`;
  }
  if (typeof value === "object" && value !== null) {
    if (depth >= MAX_DEPTH) return textView(JSON.stringify(value));
    if (Object.keys(value).length === 0) return html`<span class="muted">nothing</span>`;
    return html`<dl>${Object.entries(value).map(([name, part]) => html`<dt>${toPlainText(nameOf(name), EXACT)}</dt><dd>${dataView(part, depth + 1)}</dd>`)}</dl>`;
  }
  if (value === null || value === undefined) return html`<span class="muted">none</span>`;
  return value === "" ? html`<span class="muted">empty text</span>` : textView(String(value));
}

/** True for a value that stays distinct in a line of several. */
function isWord(entry: unknown): boolean {
  return typeof entry === "string" ? entry !== "" && !/[,\n]/.test(entry) : typeof entry !== "object";
}

/** {@link dataView} for something that stands alone: one value needs no name. */
export function wholeView(data: Readonly<Record<string, unknown>>): Markup {
  const [value, ...others] = Object.values(data);
  return typeof value === "object" && value !== null && others.length === 0 ? dataView(value) : dataView(data);
}

/** `approve_task_creation` and `dueDate` as words: "Approve task creation", "Due date". */
export function nameOf(key: string): string {
  const words = key
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replaceAll(/[_-]+/g, " ")
    .toLowerCase()
    .trim();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function textView(text: string): Markup {
  const time = readableTime(text);
  if (time !== undefined) return html`<time datetime="${text}" title="${text}">${time}</time>`;
  const whole = toPlainText(text, { ...EXACT, keepLines: true });
  if (whole.length <= MAX_TEXT) return html`<span class="text">${whole}</span>`;
  const shown = cutText(whole, MAX_TEXT);
  const rest = whole.slice(shown.length);
  return html`<span class="text">${shown}</span><details><summary>${rest.length} more characters</summary><span class="text">${rest}</span></details>`;
}
