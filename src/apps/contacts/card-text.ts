import { type ContentBlock, type ContentLine, listLines } from "../collections/content-tree.ts";
import {
  type ContentParams,
  firstParam,
  listTexts,
  readLine,
  readRank,
  readRawLine,
  readText,
} from "../collections/content-values.ts";
import type { GivenAddress } from "./address-books.ts";

/** The name of a card as it is shown. */
export function readName(card: ContentBlock): string {
  const shown = readText(card, "FN")?.trim();
  if (shown) return shown;
  const { given, family } = readNameParts(card);
  return (
    [given, family].filter(Boolean).join(" ") || readParts(card, "ORG")[0] || readWays(card, "EMAIL")[0]?.value || ""
  );
}

/** What is shown of a card in a list. */
export function summariseCard(card: ContentBlock) {
  const organization = readParts(card, "ORG").filter(Boolean).join(", ");
  const emails = readWays(card, "EMAIL").map(({ value, type }) => ({ address: value, ...type }));
  const phones = readWays(card, "TEL").map(({ value, type }) => ({ number: value, ...type }));
  return {
    name: readName(card),
    ...readKind(card),
    ...(organization !== "" && { organization }),
    ...(emails.length > 0 && { emails }),
    ...(phones.length > 0 && { phones }),
  };
}

/** Everything of a card beside its summary. */
export function describeCard(card: ContentBlock) {
  const { given, family } = readNameParts(card);
  const texts = { nickname: "NICKNAME", title: "TITLE", note: "NOTE", website: "URL", uid: "UID" };
  const found = Object.entries(texts).map(([key, name]) => ({
    key,
    values: listTexts(card, name).map(({ text }) => text.slice(0, 20_000)),
  }));
  const further = found.filter(({ values }) => values.length > 1).map(({ key, values }) => [key, values.slice(1, 50)]);
  const addresses = listLines(card, "ADR").flatMap((line) => readAddress(card, line));
  const birthday = readBirthday(card);
  const categories = listLines(card, "CATEGORIES").flatMap((line) => readLine(line)?.values ?? []);
  return {
    ...(given !== "" && { given_name: given }),
    ...(family !== "" && { family_name: family }),
    ...Object.fromEntries(found.flatMap(({ key, values: [value] }) => (value === undefined ? [] : [[key, value]]))),
    ...(further.length > 0 && { further: Object.fromEntries(further) }),
    ...(birthday !== undefined && { birthday }),
    ...(addresses.length > 0 && { addresses }),
    ...(categories.length > 0 && { categories }),
    has_photo: listLines(card, "PHOTO").length > 0,
  };
}

/** What a card is where it is no person (RFC 6350, section 6.1.4), and who is in a group. */
function readKind(card: ContentBlock): { readonly kind?: string; readonly members?: number } {
  const kind = (readText(card, "KIND") ?? readText(card, "X-ADDRESSBOOKSERVER-KIND") ?? "").toLowerCase().slice(0, 50);
  const members = [...listLines(card, "MEMBER"), ...listLines(card, "X-ADDRESSBOOKSERVER-MEMBER")].length;
  if (kind === "" || kind === "individual") return {};
  return { kind, ...(kind === "group" && { members }) };
}

/** Everything of a card that is searched. */
export function readSearchText(card: ContentBlock): string {
  const names = ["FN", "N", "NICKNAME", "ORG", "TITLE", "EMAIL", "ADR", "NOTE", "CATEGORIES"];
  const texts = names.flatMap((name) =>
    listLines(card, name).map((line) => readLine(line)?.values.flat(2).join(" ") ?? ""),
  );
  // Numbers are found however they are written.
  const numbers = readWays(card, "TEL").map(({ value }) => `${value} ${value.replaceAll(/[^\d+]/g, "")}`);
  return [...texts, ...numbers].join(" ");
}

/**
 * Components of a structured value such as N or ORG (RFC 6350), lists in them joined by commas; `[]` without the line.
 */
export function readParts(card: ContentBlock, name: string): string[] {
  const [line] = listLines(card, name);
  const [value] = (line && readLine(line)?.values) ?? [];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value.map((part) => (typeof part === "string" ? part : part.join(", ")));
}

/** Family and given names of N, trimmed; "" for a missing one. */
export function readNameParts(card: ContentBlock): { family: string; given: string } {
  const [family = "", given = ""] = readParts(card, "N");
  return { family: family.trim(), given: given.trim() };
}

/** An e-mail address or telephone number. */
export interface Way {
  /** Without `tel:` or `mailto:`. */
  readonly value: string;
  /** Types and label, joined by commas; `{}` without any. */
  readonly type: { readonly type?: string };
}

/** Those that can be read, the preferred ones first. */
export function readWays(card: ContentBlock, name: "EMAIL" | "TEL"): (Way & { readonly line: ContentLine })[] {
  const found = listLines(card, name).flatMap((line) => {
    const read = readLine(line);
    const [value] = read?.values ?? [];
    if (read === undefined || typeof value !== "string" || value.trim() === "") return [];
    const way = { value: value.trim().replace(/^(?:tel|mailto):/i, ""), type: toType(card, line, read.params) };
    return [{ ...way, line, rank: readRank(read.params) }];
  });
  return found.toSorted((a, b) => a.rank - b.rank);
}

/** What every such line says. */
export const COMMON_TYPES = ["", "internet", "pref", "voice", "x-internet"];

/** What a line is for, by its types and its label. */
function toType(card: ContentBlock, line: ContentLine, params: ContentParams): { readonly type?: string } {
  const told = listTypes(params).filter((one) => !COMMON_TYPES.includes(one));
  const label = findLabel(card, line);
  // Apple writes its own labels like this.
  const text = label && readLine(label)?.values[0];
  const [, own] = /^_\$!<(.*)>!\$_$/.exec(String(text ?? "")) ?? [];
  const all = [...new Set([...told, own?.toLowerCase() ?? text ?? ""])].filter((one) => one !== "");
  return all.length === 0 ? {} : { type: all.join(", ") };
}

/** Values of TYPE in lower case; commas within a value part them, too. */
export function listTypes({ type = [] }: ContentParams): string[] {
  return (typeof type === "string" ? [type] : type).flatMap((one) => one.toLowerCase().split(","));
}

function findLabel(card: ContentBlock, { group }: ContentLine): ContentLine | undefined {
  return group === "" ? undefined : listLines(card, "X-ABLABEL").find((line) => line.group === group);
}

/** An ADR line as an address, its box and extension moved to `street`; `[]` for a line that cannot be read. */
export function readAddress(card: ContentBlock, line: ContentLine): (GivenAddress & { readonly type?: string })[] {
  const found = readLine(line);
  const [value] = found?.values ?? [];
  if (found === undefined || value === undefined) return [];
  const parts = (typeof value === "string" ? [value] : value).map((part) =>
    (typeof part === "string" ? part : part.join(", ")).trim(),
  );
  const [box, more, street, city, region, postal_code, country] = parts;
  const whole = { street: [street, more, box].filter(Boolean).join(", "), city, region, postal_code, country };
  return [
    { ...Object.fromEntries(Object.entries(whole).filter(([, part]) => part)), ...toType(card, line, found.params) },
  ];
}

/** BDAY as `YYYY-MM-DD`, or `--MM-DD` without a year; other text unchanged; undefined without any. */
export function readBirthday(card: ContentBlock): string | undefined {
  const [line] = listLines(card, "BDAY");
  const raw = line && readRawLine(line);
  const text = raw?.value.trim();
  const [, given, month, day] = /^(\d{4}|-)-?(\d\d)-?(\d\d)(?:T.*)?$/.exec(text ?? "") ?? [];
  if (given === undefined) return text || undefined;
  const isOmitted = given === firstParam(raw?.params ?? {}, "x-apple-omit-year");
  return `${isOmitted ? "-" : given}-${month}-${day}`;
}
