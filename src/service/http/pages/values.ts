import { html } from "hono/html";
import { isRecord } from "../../../shared/base/json.ts";
import { cutText, exactTime, readableTime } from "../../../shared/base/text.ts";
import { EXACT, toPlainText } from "../../../shared/card/plain-text.ts";
import type { ConnectionState } from "../../../shared/wire/catalog.ts";
import type { FlowStep } from "../../../shared/wire/flow.ts";
import { STOPPED } from "../../executions/delays.ts";
import { restoreError } from "../../executions/outcome.ts";
import type { ExecutionRow } from "../../store/schema.ts";
import type { Markup } from "./page.ts";

type Tone = "ok" | "warn" | "bad" | "plain";

const CONNECTION_STATES: Readonly<Record<ConnectionState, readonly [Tone, string]>> = {
  healthy: ["ok", "Connected"],
  reauth_required: ["warn", "Sign-in needed"],
  error: ["bad", "Needs attention"],
};

const EXECUTION_STATES: Readonly<Record<ExecutionRow["status"], readonly [Tone, string]>> = {
  started: ["plain", "Running"],
  succeeded: ["ok", "Done"],
  failed: ["bad", "Failed"],
  refused: ["warn", "Not run"],
};

/** The statuses of the log with their names. */
export const EXECUTION_STATUS_NAMES = Object.entries(EXECUTION_STATES).map(
  ([status, [, name]]) => [status, name] as const,
);

/** State of a connection: a coloured dot and, for everybody, the word. `isUntried`: nobody knows whether it works. */
export function connectionTag(state: ConnectionState, isUntried = false): Markup {
  return isUntried && state === "healthy" ? tag("plain", "Not tried yet") : tag(...CONNECTION_STATES[state]);
}

/** Status of an execution. */
export function executionTag(row: Pick<ExecutionRow, "status" | "waits_until" | "error">): Markup {
  const { status, waits_until, error } = row;
  if (waits_until !== null) return tag("warn", "Can be stopped");
  if (error !== null && restoreError(error).code === STOPPED) return tag("plain", "Stopped");
  return tag(...EXECUTION_STATES[status]);
}

/** A coloured dot and a word. */
export function tag(tone: Tone, text: string): Markup {
  return html`<span class="tag ${tone}">${text}</span>`;
}

type Named = readonly [tone: Parameters<typeof tag>[0], name: string];

const FLOW_STATES: Readonly<Record<string, Named>> = {
  pending: ["plain", "About to run"],
  running: ["plain", "Running"],
  waiting: ["warn", "Waiting"],
  completed: ["ok", "Done"],
  failed: ["bad", "Failed"],
  cancelled: ["plain", "Cancelled"],
};

const STEP_STATES: Readonly<Record<string, Named>> = {
  pending: ["plain", "Not yet"],
  running: ["plain", "Running"],
  waiting: ["warn", "Waiting"],
  completed: ["ok", "Done"],
  failed: ["bad", "Failed"],
  skipped: ["plain", "Skipped"],
};

/** Status of a flow. */
export function flowTag(status: string): Markup {
  return tag(...(FLOW_STATES[status] ?? (["plain", status] as const)));
}

/** Status of a step. */
export function stepTag({ status }: Pick<FlowStep, "status">): Markup {
  return tag(...(STEP_STATES[status] ?? (["plain", status] as const)));
}

/** A distance in time as a person says it, e.g. "3 minutes ago", "in 12 minutes", "just now", "in a moment". */
export function describeTime(iso: string, now: number): string {
  const seconds = Math.round((Date.parse(iso) - now) / 1000);
  const size = Math.abs(seconds);
  // Clocks of two machines differ: what is ahead by little is not yet to come.
  if (size < 45) return seconds > 2 ? "in a moment" : "just now";
  const phrase = countUnits(size);
  return seconds < 0 ? `${phrase} ago` : `in ${phrase}`;
}

function countUnits(seconds: number): string {
  const [amount, unit] =
    seconds < 3600 ? [seconds / 60, "minute"] : seconds < 86_400 ? [seconds / 3600, "hour"] : [seconds / 86_400, "day"];
  const count = Math.max(1, Math.round(amount));
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}

/** How long something took, e.g. "340 ms", "12.5 s", "3 minutes". */
export function describeDuration(from: string, to: string): string {
  const ms = Date.parse(to) - Date.parse(from);
  if (ms < 1000) return `${ms} ms`;
  return ms < 60_000 ? `${(ms / 1000).toFixed(1)} s` : countUnits(ms / 1000);
}

/** {@link describeTime} with the exact time as its title: UTC, or by `LOCAL_TIMES_SCRIPT` the browser's. */
export function timeTag(iso: string, now: number): Markup {
  return html`<time datetime="${iso}" title="${exactTime(iso)}" data-local>${describeTime(iso, now)}</time>`;
}

/** A time to the second: UTC, or by `LOCAL_TIMES_SCRIPT` the browser's. */
export function exactTimeTag(iso: string): Markup {
  return html`<time datetime="${iso}" data-local="exact">${exactTime(iso)}</time>`;
}

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
  if (isRecord(value)) {
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
  return time === undefined ? exactView(text) : html`<time datetime="${text}" title="${text}">${time}</time>`;
}

/** A text as it is: invisible characters are written out, and the end of a long one is folded and counted. */
function exactView(text: string): Markup {
  return foldedText(toPlainText(text, { ...EXACT, keepLines: true }), (part) => html`${part}`);
}

/** A text whose end is folded and counted when it is long. `draw` makes the markup of a part of it. */
export function foldedText(text: string, draw: (part: string) => Markup): Markup {
  const shown = cutText(text, MAX_TEXT);
  const rest = text.slice(shown.length);
  const head = html`<span class="text">${draw(shown)}</span>`;
  if (rest === "") return head;
  return html`${head}<details><summary>${rest.length} more characters</summary><span class="text">${draw(rest)}</span></details>`;
}
