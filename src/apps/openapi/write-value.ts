import { z } from "zod";
import { isRecord } from "../../shared/base/json.ts";

/** Rows of the style table of OpenAPI 3.2, Swagger 2.0's `tsv`, and the two ways to write a value as a whole. */
const STYLES = [
  "simple",
  "form",
  "spaceDelimited",
  "pipeDelimited",
  "tabDelimited",
  "deepObject",
  "cookie",
  "json",
  "text",
] as const;

/** How a value is written in its place ("Style Values", OpenAPI 3.2). */
export const writingSchema = z.object({
  style: z.enum(STYLES),
  /** True when each item of a list and each member of an object stands by itself. */
  explode: z.boolean(),
  /** True when the characters that part an address stay as they are. Default false. */
  allowReserved: z.boolean().optional(),
});
export type Writing = z.output<typeof writingSchema>;

/** Writes the characters of a name or a value; the signs between them are not given to it. */
type Encode = (text: string) => string;

const MARKS: Readonly<Partial<Record<Writing["style"], string>>> = {
  spaceDelimited: " ",
  pipeDelimited: "|",
  tabDelimited: "\t",
};

/** Swagger 2.0's ways to join a list. */
const COLLECTIONS: Readonly<Record<string, Writing>> = {
  csv: { style: "simple", explode: false },
  ssv: { style: "spaceDelimited", explode: false },
  tsv: { style: "tabDelimited", explode: false },
  pipes: { style: "pipeDelimited", explode: false },
  multi: { style: "form", explode: true },
};

/** How a document says that a value is written: a style, or a collection format of Swagger 2.0; a text names one that cannot be. */
export function toWriting(
  name: unknown,
  { explode, allowReserved }: { explode: unknown; allowReserved: unknown },
): Writing | string {
  const known = STYLES.find((style) => style === name);
  if (known === undefined) return COLLECTIONS[String(name)] ?? String(name);
  const parts = { style: known, explode: explode === true || known === "deepObject" };
  return allowReserved === true ? { ...parts, allowReserved: true } : parts;
}

/** A value as pairs of a name and a text, for a query, a form or a cookie. No value, an empty list and an empty object are none. */
export function writePairs(name: string, value: unknown, how: Writing, encode: Encode): [string, string][] {
  const { style, explode } = how;
  if (style === "deepObject") return listDeep(name, value).map(([key, text]) => [encode(key), encode(text)]);
  if (!explode || !isStructured(value) || ["simple", "json", "text"].includes(style)) {
    const text = writeSimple(value, how, encode);
    return text === undefined ? [] : [[encode(name), text]];
  }
  if (Array.isArray(value)) return listItems(value).map((text) => [encode(name), encode(text)]);
  return listMembers(value).map(([key, text]) => [encode(key), encode(text)]);
}

/** A value as one text, for a path or a header; undefined for no value, an empty list and an empty object. */
export function writeSimple(value: unknown, { style, explode }: Writing, encode: Encode): string | undefined {
  if (value === null || value === undefined) return undefined;
  if (style === "json") return encode(JSON.stringify(value));
  if (style === "text" || !isStructured(value)) return encode(toText(value));
  const mark = MARKS[style];
  const by = mark === undefined ? "," : encode(mark);
  const sign = style === "simple" && explode ? "=" : by;
  const texts = Array.isArray(value)
    ? listItems(value).map(encode)
    : listMembers(value).map(([key, text]) => encode(key) + sign + encode(text));
  return texts.length === 0 ? undefined : texts.join(by);
}

function listItems(value: readonly unknown[]): string[] {
  return value.filter((item) => item !== null && item !== undefined).map(toText);
}

function listMembers(value: object): [string, string][] {
  const members = Object.entries(value).filter(([, part]) => part !== null && part !== undefined);
  return members.map(([key, part]) => [key, toText(part)]);
}

/** `name[key]`, and so on for what is inside: the way servers read it that offer the style at all. */
function listDeep(name: string, value: unknown): [string, string][] {
  if (value === null || value === undefined) return [];
  if (!isStructured(value)) return [[name, toText(value)]];
  return Object.entries(value).flatMap(([key, part]) => listDeep(`${name}[${key}]`, part));
}

/** A value that has no style of its own: what is inside is JSON. */
export function toText(value: unknown): string {
  return isStructured(value) ? JSON.stringify(value) : String(value);
}

function isStructured(value: unknown): value is object {
  return isRecord(value) || Array.isArray(value);
}

/** All but the unreserved characters of RFC 3986 are escaped; half a surrogate pair is no character. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** For a query with `allowReserved`: reserved characters and escapes pass, but for those that would end the value there. */
function encodeForQuery(text: string): string {
  return encodeBut(/%(?:3A|2F|3F|40|24|2C|3B|3D)/g, text).replaceAll(/%25([0-9A-Fa-f]{2})/g, "%$1");
}

function encodeBut(passing: RegExp, text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll(passing, decodeURIComponent);
}

/** How texts of a query or a form are escaped. */
export function encoderOf({ allowReserved = false }: Writing): Encode {
  return allowReserved ? encodeForQuery : encodeStrictly;
}

/** For a path with `allowReserved`: what may stand in its parts passes, and a slash parts it. */
export function encodeForPath(text: string): string {
  return encodeBut(/%(?:3A|2F|40|24|26|2C|3B|3D|2B)/g, text);
}
