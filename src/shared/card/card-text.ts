import { EXACT, toPlainText } from "./plain-text.ts";

/** Lines that could be taken for the gutter of a card. */
const GUTTER_LIKE = /[\u2500-\u259f\u23b8\u23b9\u23d0\u2758-\u275a\u2223\u2225\u2016\u01c0\u01c1\uff5c\uffe8]/gu;

/** Words that begin lines of a card itself. */
const OWN_WORDS =
  /^(action|tool|app|account|effect|arguments|files?|why|does|check|expires|always|approve|more|not|in|short|changes|besides|undo|about|lines|as|sent)$/i;

/** A value as one line: text as it is where nothing else looks like it, JSON otherwise; in several lines where that helps. */
export interface DrawnValue {
  readonly line: string;
  /** The same JSON with a line per member. */
  readonly lines?: string;
}

/**
 * Text from outside on one line, every character of it visible: line ends, all spaces but single ordinary ones, marks
 * without a letter below them, further ones than three on one letter, marks that draw a frame or a stroke, characters in
 * `also`, and whatever shows nothing are written as `\uXXXX`.
 */
export function drawText(text: string, also?: RegExp): string {
  // Written here and not above, where every start would wait some milliseconds for it.
  const looseMarks =
    /(?<![\p{L}\p{N}\p{M}\p{Extended_Pictographic}\p{Emoji_Modifier}\u200c\u200d])\p{M}|(?<=\p{M}{3})\p{M}|\p{Me}|[\u0334-\u0338\u20d2\u20d3\u20d8-\u20da]/gu;
  const plain = toPlainText(text, EXACT).replaceAll(looseMarks, escapeUnits).replaceAll(GUTTER_LIKE, escapeUnits);
  const whole = also === undefined ? plain : plain.replaceAll(also, escapeUnits);
  return whole.replaceAll(/(?<= ) /g, escapeUnits);
}

/** Prose of a service: white space is one space. */
export function drawProse(text: string, also?: RegExp): string {
  return drawText(text.replaceAll(/\s+/g, " ").trim(), also);
}

/** A value of any kind. Text without quotes holds no escapes: it is sent exactly as shown. */
function drawValue(value: unknown, also?: RegExp): DrawnValue {
  if (typeof value === "string" && isBare(value, also)) return { line: value };
  const line = drawText(JSON.stringify(value), also);
  if (typeof value !== "object" || value === null) return { line };
  const lines = drawJsonLines(value, also);
  return lines.includes("\n") ? { line, lines } : { line };
}

/** Arguments shown first: recipients, targets and amounts. */
const FIRST =
  /^(to|cc|bcc|recipients?|channel|chat|user|email|amount|currency|path|folder|target|url|id|name|subject|title)/i;

/** Arguments as `name: value`. */
export function drawArguments(entries: readonly (readonly [string, unknown])[], also?: RegExp): DrawnValue[] {
  const sorted = [...entries.filter(([name]) => FIRST.test(name)), ...entries.filter(([name]) => !FIRST.test(name))];
  return sorted.map(([name, value]) => {
    const { line, lines } = drawValue(value, also);
    const label = `${drawName(name, also)}: `;
    return { line: label + line, ...(lines === undefined ? {} : { lines: label + lines }) };
  });
}

/** The name of an argument; in quotes where it could be taken for something else. */
export function drawName(name: string, also?: RegExp): string {
  return /^\w[\w.[\]-]*$/.test(name) && !OWN_WORDS.test(name) ? name : drawText(JSON.stringify(name), also);
}

/** A value among others that commas part. */
export function drawPart(text: string, also?: RegExp): string {
  return isBare(text, also) && !/[,;]/.test(text) ? text : drawText(JSON.stringify(text), also);
}

/** Tabs indent while spaces are escaped: those of a value and those of the indentation must not be mixed up. */
function drawJsonLines(value: object, also: RegExp | undefined): string {
  const text = JSON.stringify(value, null, "\t");
  const lines = text.split("\n").map((line) => {
    const depth = line.length - line.trimStart().length;
    return `${"  ".repeat(depth)}${drawText(line.slice(depth), also)}`;
  });
  return lines.join("\n");
}

function isBare(text: string, also: RegExp | undefined): boolean {
  if (text === "" || text.trim() !== text || /^["[{]/.test(text)) return false;
  return drawText(text, also) === text && !isJson(text);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function escapeUnits(characters: string): string {
  const units = Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
