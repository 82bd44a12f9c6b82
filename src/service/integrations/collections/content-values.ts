import ICAL from "ical.js";
import { z } from "zod";
import { type ContentBlock, type ContentLine, listLines, makeLine, readLineText } from "./content-tree.ts";

/** Which of the two formats a line is of; they differ in what a value is. */
export type ContentFormat = "icalendar" | "vcard3";

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
export function writeRawLine(name: string, value: string, params: ContentParams = {}, group = ""): ContentLine {
  const written = Object.entries(params).map(([key, one]) => {
    const values = typeof one === "string" ? [one] : one;
    return `;${key.toUpperCase()}=${values.map(encodeParam).join(",")}`;
  });
  return makeLine(`${group === "" ? "" : `${group}.`}${name}${written.join("")}:${value}`);
}

const valueSchema = z.union([z.string(), z.array(z.union([z.string(), z.array(z.string())]))]);
/** jCal (RFC 7265): name, parameters, type, values. */
const jcalSchema = z.tuple([z.string(), z.unknown(), z.string()], valueSchema);

/** The parts of a line, escapes resolved; undefined for one that cannot be read. */
export function readLine(line: ContentLine, format: ContentFormat): ContentValue | undefined {
  const raw = readRawLine(line);
  if (raw === undefined) return undefined;
  try {
    const [, , , ...values] = jcalSchema.parse(ICAL.parse.property(`${line.name}:${raw.value}`, ICAL.design[format]));
    return { params: raw.params, values };
  } catch {
    return undefined;
  }
}

/** The first value of a parameter. */
export function firstParam(params: ContentParams, name: string): string | undefined {
  const value = params[name];
  return typeof value === "string" ? value : value?.[0];
}

/** The text of the first line of this name that can be read; undefined without one. */
export function readText(block: ContentBlock, name: string, format: ContentFormat): string | undefined {
  for (const line of listLines(block, name)) {
    const [value] = readLine(line, format)?.values ?? [];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** Writes a line of text, or of a list where the format divides a value. */
export function writeLine(
  name: string,
  value: string | readonly (string | readonly string[])[],
  o: { readonly format: ContentFormat; readonly params?: ContentParams; readonly group?: string },
): ContentLine {
  const line = ICAL.stringify.property([name.toLowerCase(), {}, "text", value], ICAL.design[o.format], true);
  return writeRawLine(name, line.slice(name.length + 1).replace(/^VALUE=TEXT:/, ""), o.params, o.group);
}

/** Parts of a duration (RFC 5545, section 3.3.6): days are counted on the calendar, the rest on the clock, in milliseconds. */
export interface ContentDuration {
  readonly days: number;
  readonly ms: number;
}

/** Reads a duration such as `P1DT2H`; undefined for other text. */
export function readDuration(text: string): ContentDuration | undefined {
  try {
    const { weeks, days, hours, minutes, seconds, isNegative } = ICAL.Duration.fromString(text);
    const sign = isNegative ? -1 : 1;
    return { days: sign * (weeks * 7 + days), ms: sign * ((hours * 60 + minutes) * 60 + seconds) * 1000 };
  } catch {
    return undefined;
  }
}
