import { html } from "hono/html";
import type { Markup } from "./page.ts";

/** Longest text shown of one value, in characters. */
const MAX_TEXT = 2000;
/** Most entries shown of one list. */
const MAX_ENTRIES = 50;
/** Below this depth values are shown as JSON. */
const MAX_DEPTH = 4;

/** Any JSON value as a person reads it: names and values, lists, texts with their line breaks. */
export function dataView(value: unknown, depth = 0): Markup {
  if (Array.isArray(value)) {
    if (value.length === 0) return html`<span class="muted">none</span>`;
    if (value.every((entry) => typeof entry !== "object" || entry === null)) return textView(value.join(", "));
    const rest = value.length - MAX_ENTRIES;
    return html`<ol class="data">${value.slice(0, MAX_ENTRIES).map((entry) => html`<li>${dataView(entry, depth + 1)}</li>`)}</ol>${rest > 0 ? html`<p class="muted">and ${rest} more</p>` : ""}`;
  }
  if (typeof value === "object" && value !== null) {
    if (depth >= MAX_DEPTH) return textView(JSON.stringify(value));
    if (Object.keys(value).length === 0) return html`<span class="muted">nothing</span>`;
    return html`<dl>${Object.entries(value).map(([name, part]) => html`<dt>${nameOf(name)}</dt><dd>${dataView(part, depth + 1)}</dd>`)}</dl>`;
  }
  return textView(value === null || value === undefined || value === "" ? "none" : String(value));
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
  const shown =
    text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT).toWellFormed()} … (${text.length - MAX_TEXT} more)` : text;
  return html`<span class="text">${shown}</span>`;
}
