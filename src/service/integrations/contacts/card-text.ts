import { type ContentBlock, type ContentLine, listLines, makeLine, replaceLines } from "../collections/content-tree.ts";
import { type ContentParams, readLine, readRawLine, readText, writeLine } from "../collections/content-values.ts";
import type { ContactChange, GivenAddress, GivenWay } from "./address-books.ts";

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
    ...(organization !== "" && { organization }),
    ...(emails.length > 0 && { emails }),
    ...(phones.length > 0 && { phones }),
  };
}

/** Everything of a card beside its summary. */
export function describeCard(card: ContentBlock) {
  const { given, family } = readNameParts(card);
  const texts = { nickname: "NICKNAME", title: "TITLE", note: "NOTE", website: "URL", uid: "UID" };
  const found = Object.entries(texts).map(([key, name]) => [key, readText(card, name)?.slice(0, 20_000)]);
  const addresses = listLines(card, "ADR").flatMap(readAddress);
  const birthday = readBirthday(card);
  const categories = listLines(card, "CATEGORIES").flatMap((line) => readLine(line)?.values ?? []);
  return {
    ...(given !== "" && { given_name: given }),
    ...(family !== "" && { family_name: family }),
    ...Object.fromEntries(found.filter(([, value]) => value !== undefined)),
    ...(birthday !== undefined && { birthday }),
    ...(addresses.length > 0 && { addresses }),
    ...(categories.length > 0 && { categories }),
    has_photo: listLines(card, "PHOTO").length > 0,
  };
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

function readParts(card: ContentBlock, name: string): string[] {
  const [line] = listLines(card, name);
  const [value] = (line && readLine(line)?.values) ?? [];
  if (value === undefined) return [];
  return typeof value === "string" ? [value] : value.map((part) => (typeof part === "string" ? part : part.join(", ")));
}

function readNameParts(card: ContentBlock): { family: string; given: string } {
  const [family = "", given = ""] = readParts(card, "N");
  return { family: family.trim(), given: given.trim() };
}

interface Way {
  readonly value: string;
  readonly type: { readonly type?: string };
}

function readWays(card: ContentBlock, name: "EMAIL" | "TEL"): Way[] {
  return listLines(card, name).flatMap((line) => {
    const found = readLine(line);
    const [value] = found?.values ?? [];
    if (found === undefined || typeof value !== "string" || value.trim() === "") return [];
    return [{ value: value.trim().replace(/^(?:tel|mailto):/i, ""), type: toType(found.params) }];
  });
}

/** What a line is for; what every such line says is left out. */
function toType({ type = [] }: ContentParams): { readonly type?: string } {
  const all = (typeof type === "string" ? [type] : type).flatMap((one) => one.toLowerCase().split(","));
  const told = all.filter((one) => !["", "internet", "pref", "voice", "x-internet"].includes(one));
  return told.length === 0 ? {} : { type: told.join(", ") };
}

function readAddress(line: ContentLine): (GivenAddress & { readonly type?: string })[] {
  const found = readLine(line);
  const [value] = found?.values ?? [];
  if (found === undefined || value === undefined) return [];
  const parts = (typeof value === "string" ? [value] : value).map((part) =>
    (typeof part === "string" ? part : part.join(", ")).trim(),
  );
  const [box, more, street, city, region, postal_code, country] = parts;
  const whole = { street: [street, more, box].filter(Boolean).join(", "), city, region, postal_code, country };
  return [{ ...Object.fromEntries(Object.entries(whole).filter(([, part]) => part)), ...toType(found.params) }];
}

function readBirthday(card: ContentBlock): string | undefined {
  const [line] = listLines(card, "BDAY");
  const text = line === undefined ? undefined : readRawLine(line)?.value.trim();
  const [, year, month, day] = /^(\d{4}|-)-?(\d\d)-?(\d\d)(?:T.*)?$/.exec(text ?? "") ?? [];
  return year === undefined ? text || undefined : `${year}-${month}-${day}`;
}

/** A new card. */
export function composeCard(
  contact: ContactChange & { readonly name: string },
  uid: string,
  now: number,
): ContentBlock {
  const entries = [makeLine("VERSION:3.0"), makeLine(`UID:${uid}`)];
  const empty: ContentBlock = { name: "VCARD", entries };
  // The format wants the parts of a name, too.
  const parts = contact.given_name || contact.family_name ? {} : { given_name: contact.name };
  return changeCard(empty, { ...contact, ...parts }, now);
}

/** A card after a change; lines that it does not concern stay as they are. */
export function changeCard(card: ContentBlock, change: ContactChange, now: number): ContentBlock {
  const texts: readonly (readonly [string, string | undefined])[] = [
    ["FN", change.name],
    ["NICKNAME", change.nickname],
    ["TITLE", change.title],
    ["NOTE", change.note],
    ["URL", change.website],
  ];
  let changed = setNameParts(card, change);
  for (const [name, text] of texts) if (text !== undefined) changed = setText(changed, name, text);
  if (change.organization !== undefined) changed = setOrganization(changed, change.organization);
  if (change.birthday !== undefined)
    changed = setLines(changed, "BDAY", change.birthday === "" ? [] : [makeLine(`BDAY:${change.birthday}`)]);
  if (change.emails !== undefined) changed = setWays(changed, "EMAIL", change.emails);
  if (change.phones !== undefined) changed = setWays(changed, "TEL", change.phones);
  if (change.addresses !== undefined) changed = setAddresses(changed, change.addresses);
  const stamp = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  return replaceLines(changed, "REV", [makeLine(`REV:${stamp}`)]);
}

function setText(card: ContentBlock, name: string, text: string): ContentBlock {
  if (readText(card, name) === text) return card;
  return setLines(card, name, text === "" ? [] : [writeLine(name, text)]);
}

/** Other parts of a name, such as a title before it, stay. */
function setNameParts(card: ContentBlock, { given_name, family_name }: ContactChange): ContentBlock {
  if (given_name === undefined && family_name === undefined) return card;
  const [family = "", given = "", ...rest] = readParts(card, "N");
  const parts = [family_name ?? family, given_name ?? given, ...rest, "", "", ""].slice(0, 5);
  return setLines(card, "N", [writeLine("N", parts)]);
}

/** Units of the organization go with it. */
function setOrganization(card: ContentBlock, text: string): ContentBlock {
  if (readParts(card, "ORG").filter(Boolean).join(", ") === text) return card;
  return setLines(card, "ORG", text === "" ? [] : [writeLine("ORG", [text])]);
}

function setWays(card: ContentBlock, name: "EMAIL" | "TEL", ways: readonly GivenWay[]): ContentBlock {
  const old = listLines(card, name).map((line) => ({
    line,
    way: readWays({ name: "VCARD", entries: [line] }, name)[0],
  }));
  const lines = ways.map(({ value, type }) => {
    // One that was there keeps its line, and so what the line says beside it.
    const same = old.find(
      ({ way }) => way?.value === value && (type === undefined || (way.type.type ?? "") === type.toLowerCase()),
    );
    return same?.line ?? writeLine(name, value, toParams(type));
  });
  return setLines(card, name, lines);
}

function setAddresses(card: ContentBlock, addresses: readonly GivenAddress[]): ContentBlock {
  const old = listLines(card, "ADR").map((line) => ({
    line,
    known: JSON.stringify(sortFields(readAddress(line)[0] ?? {})),
  }));
  const lines = addresses.map((address) => {
    const same = old.find(({ known }) => known === JSON.stringify(sortFields(address)));
    const { street = "", city = "", region = "", postal_code = "", country = "", type } = address;
    const parts = ["", "", street, city, region, postal_code, country];
    return same?.line ?? writeLine("ADR", parts, toParams(type));
  });
  return setLines(card, "ADR", lines);
}

function sortFields(address: GivenAddress): [string, unknown][] {
  return Object.entries(address)
    .filter(([, value]) => value !== undefined && value !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

function toParams(type: string | undefined): ContentParams {
  return type === undefined || type === "" ? {} : { type: type.toUpperCase() };
}

/** The lines of a name, and no label of one that is gone. */
function setLines(card: ContentBlock, name: string, lines: readonly ContentLine[]): ContentBlock {
  const gone = listLines(card, name).filter((line) => line.group !== "" && !lines.includes(line));
  const groups = new Set(gone.map(({ group }) => group));
  const changed = replaceLines(card, name, lines);
  const isLabel = (entry: ContentLine | ContentBlock) =>
    "raw" in entry && entry.name === "X-ABLABEL" && groups.has(entry.group);
  return { ...changed, entries: changed.entries.filter((entry) => !isLabel(entry)) };
}
