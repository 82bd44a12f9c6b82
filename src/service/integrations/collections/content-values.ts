import { type ContentBlock, type ContentLine, listLines, makeLine, readLineText } from "./content-tree.ts";

/** Parameters of a line by lower-case name; several values as the list that stands there. */
export type ContentParams = Readonly<Record<string, string | readonly string[]>>;

/** A line whose value is not looked at: it is one text, as it stands there. */
export interface RawValue {
  readonly params: ContentParams;
  readonly value: string;
}

/** A line with its parts, escapes resolved. */
export interface ContentValue {
  readonly params: ContentParams;
  /** A list of lists where the format divides a value by semicolons and commas. */
  readonly values: readonly (string | readonly (string | readonly string[])[])[];
}

const ONE_PARAM = /;(?:([A-Za-z0-9-]+)=)?((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)/y;

/** The parts of a line as they stand there; undefined for one that has no value. */
export function readRawLine(line: ContentLine): RawValue | undefined {
  const text = readLineText(line);
  const params: Record<string, string | readonly string[]> = {};
  let at = line.name.length;
  while (text[at] === ";") {
    ONE_PARAM.lastIndex = at;
    // Without a name it is a type, as in vCard 2.1.
    const [whole, name = "type", list = ""] = ONE_PARAM.exec(text) ?? [];
    if (whole === undefined) return undefined;
    const values = (list.match(/"[^"]*"|[^",]+/g) ?? [""]).map((value) => decodeParam(value.replaceAll('"', "")));
    const old = params[name.toLowerCase()] ?? [];
    const all = [...(typeof old === "string" ? [old] : old), ...values];
    params[name.toLowerCase()] = all.length === 1 ? (all[0] ?? "") : all;
    at += whole.length;
  }
  return text[at] === ":" ? { params, value: text.slice(at + 1) } : undefined;
}

/** RFC 6868. */
const PARAM_CODES: Readonly<Record<string, string>> = { "^n": "\n", "^'": '"', "^^": "^" };

function decodeParam(text: string): string {
  return text.replaceAll(/\^[n'^]/g, (code) => PARAM_CODES[code] ?? code);
}

function encodeParam(text: string): string {
  const encoded = text.replaceAll("^", "^^").replaceAll('"', "^'").replaceAll(/\r?\n/g, "^n");
  return /[;:,]/.test(encoded) ? `"${encoded}"` : encoded;
}

/** Inverse of {@link readRawLine}. */
export function writeRawLine(name: string, value: string, params: ContentParams = {}): ContentLine {
  const written = Object.entries(params).map(([key, one]) => {
    const values = typeof one === "string" ? [one] : one;
    return `;${key.toUpperCase()}=${values.map(encodeParam).join(",")}`;
  });
  return makeLine(`${name}${written.join("")}:${value}`);
}

/** Lines whose value is a list divided by semicolons; true where each part may be a list, too. */
const STRUCTURED: Readonly<Record<string, boolean>> = { N: true, ADR: true, ORG: false };
const LISTS = new Set(["CATEGORIES", "RESOURCES", "NICKNAME"]);

/** The parts of a line of text, escapes resolved (RFC 5545, section 3.3.11; RFC 2426, section 4). */
export function readLine(line: ContentLine): ContentValue | undefined {
  const raw = readRawLine(line);
  if (raw === undefined) return undefined;
  const { params, value } = raw;
  const hasLists = STRUCTURED[line.name];
  if (hasLists !== undefined) {
    const parts = split(value, ";").map((part) => {
      const list = hasLists ? split(part, ",").map(unescapeText) : [];
      return list.length > 1 ? list : unescapeText(part);
    });
    return { params, values: [parts] };
  }
  return { params, values: LISTS.has(line.name) ? split(value, ",").map(unescapeText) : [unescapeText(value)] };
}

/** Divides at signs that no backslash stands before. */
function split(text: string, sign: ";" | ","): string[] {
  const parts = [""];
  for (const piece of text.match(/\\.|[^\\]/gsu) ?? []) {
    if (piece === sign) parts.push("");
    else parts[parts.length - 1] += piece;
  }
  return parts;
}

function unescapeText(text: string): string {
  return text.replaceAll(/\\(.)/gsu, (_, sign: string) => (sign === "n" || sign === "N" ? "\n" : sign));
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\;,]/g, "\\$&").replaceAll(/\r\n|\n|\r/g, "\\n");
}

/** The first value of a parameter. */
export function firstParam(params: ContentParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : value?.[0];
}

/** The text of the first line of this name that can be read; undefined without one. */
export function readText(block: ContentBlock, name: string): string | undefined {
  for (const line of listLines(block, name)) {
    const [value] = readLine(line)?.values ?? [];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** Writes a line of text, or of a list where its value is divided by semicolons. */
export function writeLine(name: string, value: string | readonly string[], params: ContentParams = {}): ContentLine {
  if (typeof value !== "string") return writeRawLine(name, value.map(escapeText).join(";"), params);
  // An address of a page is no text: nothing in it is escaped.
  return writeRawLine(name, name === "URL" ? value : escapeText(value), params);
}

/** Parts of a duration (RFC 5545, section 3.3.6): days are counted on the calendar, the rest on the clock, in milliseconds. */
export interface ContentDuration {
  readonly days: number;
  readonly ms: number;
}

const DURATION = /^([+-])?P(?:(\d{1,6})W)?(?:(\d{1,7})D)?(?:T(?:(\d{1,7})H)?(?:(\d{1,8})M)?(?:(\d{1,9})S)?)?$/;

/** Reads a duration such as `P1DT2H`; undefined for other text. */
export function readDuration(text: string): ContentDuration | undefined {
  const [, sign, ...parts] = DURATION.exec(text.trim().toUpperCase()) ?? [];
  if (parts.every((part) => part === undefined)) return undefined;
  const [weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0] = parts.map((part) => Number(part ?? 0));
  const factor = sign === "-" ? -1 : 1;
  return { days: factor * (weeks * 7 + days), ms: factor * ((hours * 60 + minutes) * 60 + seconds) * 1000 };
}
