import { refuseValue } from "../../service/service-error.ts";
import { type ContentBlock, type ContentLine, listLines, makeLine, replaceLines } from "./content-tree.ts";
import { type ContentParams, decodeBytes, listTexts, splitLine } from "./content-values.ts";

function encodeParam(text: string): string {
  const encoded = text.replaceAll("^", "^^").replaceAll('"', "^'").replaceAll(/\r?\n/g, "^n");
  return /[;:,]/.test(encoded) ? `"${encoded}"` : encoded;
}

/** What is set in a line. */
export interface LineChange {
  /** As it is written; default: it stays. */
  readonly value?: string;
  readonly params?: ContentParams;
  /** Lower-case names of further parameters that go. */
  readonly drops?: readonly string[];
}

/**
 * The line after a change: what it says beside stays as it is, and so does a line that says the same already. A line of its
 * own where there is no old one.
 */
export function changeLine(old: ContentLine | undefined, name: string, change: LineChange): ContentLine {
  const parts = old && splitLine(old);
  const gone = new Set([...(change.drops ?? []), ...Object.keys(change.params ?? {})]);
  const kept = (parts?.params ?? []).filter((one) => !gone.has(one.name)).map(({ text }) => decodeBytes(text));
  const added = Object.entries(change.params ?? {}).map(([key, one]) => {
    const values = typeof one === "string" ? [one] : one;
    return `;${key.toUpperCase()}=${values.map(encodeParam).join(",")}`;
  });
  const before = old?.raw.replaceAll(/[\r\n]+[ \t]/g, "").replace(/[\r\n]+$/, "");
  const [, spelling] = /^((?:[A-Za-z0-9_-]+\.)?[A-Za-z0-9_-]+)/.exec(before ?? "") ?? [];
  const value = change.value ?? decodeBytes(parts?.value ?? "");
  const text = `${spelling ?? name}${kept.join("")}${added.join("")}:${value}`;
  return old !== undefined && Buffer.from(text).toString("latin1") === before ? old : makeLine(text);
}

function escapeText(text: string): string {
  return text.replaceAll(/[\\;,]/g, "\\$&").replaceAll(/\r\n|\n|\r/g, "\\n");
}

/** Parameters that say how a value is written, or where another form of it is: another value has none of them. */
const OF_VALUE = ["charset", "encoding", "altrep", "value"];

/** A text, or the parts of a value that is divided by semicolons, each of which may be a list. */
type WrittenText = string | readonly (string | readonly string[])[];

/**
 * A line with this text in the place of an old one.
 *
 * @param o.isOld for vCard 2.1 and vCalendar 1.0, which know no escapes but those of quoted-printable
 */
export function writeLine(
  name: string,
  text: WrittenText,
  o: { readonly old?: ContentLine | undefined; readonly params?: ContentParams; readonly isOld?: boolean } = {},
): ContentLine {
  const { old, params = {}, isOld = false } = o;
  const given = typeof text === "string" && name === "NICKNAME" ? [text.split(/,\s*/)] : text;
  const parts = (typeof given === "string" ? [given] : given).map((part) => (typeof part === "string" ? [part] : part));
  const join = (write: (one: string) => string) => parts.map((list) => list.map(write).join(",")).join(";");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is not plain ASCII
  if (isOld && parts.flat().some((one) => /[^\u0000-\u007f]|[\r\n]/.test(one) || one.length > 60)) {
    const encoding = { charset: "UTF-8", encoding: "QUOTED-PRINTABLE" };
    const value = breakText(join((one) => quoteText(one.replaceAll(";", "\\;"))));
    return changeLine(old, name, { value, params: { ...params, ...encoding }, drops: OF_VALUE });
  }
  // An address of a page is no text: nothing in it is escaped.
  const write = (one: string) => (name === "URL" ? one : isOld ? one.replaceAll(";", "\\;") : escapeText(one));
  return changeLine(old, name, { value: join(write), params, drops: OF_VALUE });
}

function quoteText(text: string): string {
  const bytes = Buffer.from(text.replaceAll(/\r\n|\n|\r/g, "\r\n")).toString("latin1");
  return bytes.replaceAll(/[^\x20-\x3c\x3e-\x7e]/g, (sign) => {
    return `=${sign.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

/** Soft breaks (RFC 2045, section 6.7), none of which is followed by a space or cuts a code. */
function breakText(text: string): string {
  return text.length < 25 ? text : `=\r\n${text.replaceAll(/(?:=[0-9A-F]{2}|[^=]){20}(?! )(?=.)/g, "$&=\r\n")}`;
}

/**
 * The block with this text in the line that is shown; without it where the text is empty. Throws ServiceError 400 naming
 * `field` where another line of the name would be shown then.
 *
 * @param o.isOld for vCard 2.1 and vCalendar 1.0
 */
export function setText(
  block: ContentBlock,
  name: string,
  text: string | undefined,
  o: { readonly field: string; readonly isOld: boolean },
): ContentBlock {
  const [shown, ...others] = listTexts(block, name);
  if (text === undefined || text === (shown?.text ?? "")) return block;
  if (text === "" && others.length > 0)
    throw refuseValue(
      o.field,
      `cannot be taken away: ${others.length} more of its kind would stay.`,
      "Give it a new text.",
    );
  const old = shown?.line ?? listLines(block, name)[0];
  const line = text === "" ? [] : [writeLine(name, text, { old, isOld: o.isOld })];
  return replaceLines(block, old === undefined ? [] : [old], line);
}

/** The block with other lines of this name: the first takes the place of the first old one, and what that one says beside. */
export function setLine(block: ContentBlock, name: string, line: ContentLine | undefined): ContentBlock {
  return replaceLines(block, listLines(block, name).slice(0, 1), line === undefined ? [] : [line], name);
}
