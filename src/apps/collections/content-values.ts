import { decodeText } from "../text/decode-text.ts";
import { type ContentBlock, type ContentLine, listLines, readLineText } from "./content-tree.ts";

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

const ONE_PARAM = /;(?:([A-Za-z0-9_-]+)=)?((?:"[^"]*"|[^";:,]*)(?:,(?:"[^"]*"|[^";:,]*))*)/y;
/** Names of zones hold colons and commas, also where nobody put them in quotes: the value behind them is a time. */
const ZONE_PARAM = /;(TZID)=("[^"]*"|[^;"]*?)(?=;[A-Za-z0-9-]+=|:\d{4}-?\d\d)/iy;
/** Parameters of vCard 2.1 that stand there without their name. */
const ENCODINGS = /^(?:QUOTED-PRINTABLE|BASE64|8BIT|7BIT)$/i;

interface LineParts {
  /** Each as it stands there, with its name in lower case. */
  readonly params: readonly { readonly name: string; readonly text: string; readonly value: string }[];
  /** As it stands there; a character for each byte. */
  readonly value: string;
}

/** The parts of a line as they stand there; undefined for one that has no value. */
export function splitLine(line: ContentLine): LineParts | undefined {
  const text = readLineText(line);
  const params: LineParts["params"][number][] = [];
  let at = line.name.length;
  while (text[at] === ";") {
    ZONE_PARAM.lastIndex = at;
    ONE_PARAM.lastIndex = at;
    const found = ZONE_PARAM.exec(text) ?? ONE_PARAM.exec(text);
    if (found === null) return undefined;
    const [whole, given, value = ""] = found;
    // Without a name it is a type, as in vCard 2.1.
    const name = given ?? (ENCODINGS.test(value) ? "encoding" : "type");
    params.push({ name: name.toLowerCase(), text: whole, value });
    at += whole.length;
  }
  return text[at] === ":" ? { params, value: text.slice(at + 1) } : undefined;
}

/** The same with its parameters by name, and with its value decoded. */
export function readRawLine(line: ContentLine): RawValue | undefined {
  const parts = splitLine(line);
  if (parts === undefined) return undefined;
  const params: Record<string, string | readonly string[]> = {};
  for (const { name, value: list } of parts.params) {
    const found = name === "tzid" ? [list] : (list.match(/"[^"]*"|[^",]+/g) ?? [""]);
    const values = found.map((value) => decodeParam(decodeBytes(value.replaceAll('"', ""))));
    const old = params[name] ?? [];
    const all = [...(typeof old === "string" ? [old] : old), ...values];
    params[name] = all.length === 1 ? (all[0] ?? "") : all;
  }
  return { params, value: decodeValue(parts.value, params) };
}

/** The text of a value that is a character for each byte. */
function decodeValue(value: string, params: ContentParams): string {
  const charset = firstParam(params, "charset");
  const encoding = firstParam(params, "encoding")?.toUpperCase() ?? "";
  if (/^B(?:ASE64)?$/.test(encoding)) return decodeBytes(Buffer.from(value, "base64").toString("latin1"), charset);
  const isQuoted = encoding === "QUOTED-PRINTABLE";
  return decodeBytes(isQuoted ? unquoteBytes(value).replaceAll(/\r\n?/g, "\n") : value, charset);
}

function unquoteBytes(text: string): string {
  return text.replaceAll(/=([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

/** The text of bytes, a character for each, in a charset; see {@link decodeText} for one that is not said, or not right. */
export function decodeBytes(bytes: string, charset = ""): string {
  if (charset === "" && !/[^\x20-\x7e]/.test(bytes)) return bytes;
  return decodeText(Buffer.from(bytes, "latin1"), charset).text;
}

/** What of a block is read by a guess: lines in no charset that is said. In sentences. */
export function listGuesses({ name, entries }: ContentBlock): string[] {
  const guesses = entries.flatMap((line) => {
    if (!("raw" in line) || !/[^\t\r\n -~]|=[89A-F]/i.test(line.raw)) return [];
    const parts = splitLine(line);
    const isQuoted = parts?.params.some((one) => one.name === "encoding" && /QUOTED/i.test(one.value));
    const value = parts?.value ?? "";
    const bytes = Buffer.from(isQuoted ? unquoteBytes(value) : value, "latin1");
    const { why } = decodeText(bytes, firstParam(readRawLine(line)?.params ?? {}, "charset") ?? "");
    return why === undefined ? [] : [`${line.name} of a ${name}: ${why}`];
  });
  return [...new Set(guesses)];
}

/** RFC 6868. */
const PARAM_CODES: Readonly<Record<string, string>> = { "^n": "\n", "^'": '"', "^^": "^" };

function decodeParam(text: string): string {
  return text.replaceAll(/\^[n'^]/g, (code) => PARAM_CODES[code] ?? code);
}

/** Lines whose value is a list divided by semicolons; true where each part may be a list, too. */
const STRUCTURED: Readonly<Record<string, boolean>> = { N: true, ADR: true, ORG: false };
const LISTS = new Set(["CATEGORIES", "RESOURCES", "NICKNAME"]);

/** The parts of a line of text, escapes resolved (RFC 5545, section 3.3.11; RFC 2426, section 4). */
export function readLine(line: ContentLine): ContentValue | undefined {
  const raw = readRawLine(line);
  const parts = splitLine(line);
  if (raw === undefined || parts === undefined) return undefined;
  const { params } = raw;
  // What is encoded divides nothing.
  const read = (text: string) => unescapeText(decodeValue(text, params));
  const hasLists = STRUCTURED[line.name];
  if (hasLists !== undefined) {
    const values = split(parts.value, ";").map((part) => {
      const list = hasLists ? split(part, ",").map(read) : [];
      return list.length > 1 ? list : read(part);
    });
    return { params, values: [values] };
  }
  return { params, values: LISTS.has(line.name) ? split(parts.value, ",").map(read) : [read(parts.value)] };
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

/** The first value of a parameter. */
export function firstParam(params: ContentParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : value?.[0];
}

/** The lines of this name with a text that is not empty, the preferred ones first (RFC 6350, section 5.3). */
export function listTexts(block: ContentBlock, name: string): { readonly line: ContentLine; readonly text: string }[] {
  const found = listLines(block, name).flatMap((line) => {
    const read = readLine(line);
    if (read === undefined || !read.values.every((one) => typeof one === "string")) return [];
    const text = LISTS.has(name) ? read.values.join(", ") : (read.values[0] ?? "");
    return text === "" ? [] : [{ line, text, rank: readRank(read.params) }];
  });
  return found.toSorted((a, b) => a.rank - b.rank);
}

/** 1 for what is preferred to all, 101 for what is not. */
export function readRank({ pref, type = [] }: ContentParams): number {
  const types = (typeof type === "string" ? [type] : type).flatMap((one) => one.toLowerCase().split(","));
  const rank = Number(pref);
  return rank >= 1 && rank <= 100 ? rank : types.includes("pref") ? 1 : 101;
}

/** The first of {@link listTexts}; undefined without one. */
export function readText(block: ContentBlock, name: string): string | undefined {
  return listTexts(block, name)[0]?.text;
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
