import { refuseValue } from "../../service/service-error.ts";
import { changeLine, setText, writeLine } from "../collections/content-edit.ts";
import {
  type ContentBlock,
  type ContentLine,
  listLines,
  makeBlock,
  makeLine,
  replaceLines,
} from "../collections/content-tree.ts";
import { type ContentParams, readLine, readRawLine, readText } from "../collections/content-values.ts";
import type { ContactChange, GivenAddress, GivenWay } from "./address-books.ts";
import { COMMON_TYPES, listTypes, readAddress, readBirthday, readNameParts, readParts, readWays } from "./card-text.ts";

/** A new card. */
export function composeCard(
  contact: ContactChange & { readonly name: string },
  uid: string,
  now: number,
): ContentBlock {
  const empty = makeBlock("VCARD", [makeLine("VERSION:3.0"), makeLine(`UID:${uid}`)]);
  // The format wants the parts of a name, too.
  const parts = contact.given_name || contact.family_name ? {} : { given_name: contact.name };
  return changeCard(empty, { ...contact, ...parts }, now);
}

/** A card after a change; lines that it does not concern stay as they are. Throws ServiceError 400. */
export function changeCard(card: ContentBlock, change: ContactChange, now: number): ContentBlock {
  const isOld = readText(card, "VERSION") === "2.1";
  const isNew = readText(card, "VERSION") === "4.0";
  const texts = [
    { name: "FN", field: "new_name", text: change.name },
    { name: "NICKNAME", field: "nickname", text: change.nickname },
    { name: "TITLE", field: "title", text: change.title },
    { name: "NOTE", field: "note", text: change.note },
    { name: "URL", field: "website", text: change.website },
  ];
  let changed = setNameParts(card, change, isOld);
  for (const { name, field, text } of texts) changed = setText(changed, name, text, { field, isOld });
  if (change.organization !== undefined) changed = setOrganization(changed, change.organization, isOld);
  if (change.birthday !== undefined) changed = setBirthday(changed, change.birthday, isNew);
  if (change.emails !== undefined) changed = setWays(changed, "EMAIL", change.emails, isOld);
  if (change.phones !== undefined) changed = setWays(changed, "TEL", change.phones, isOld);
  if (change.addresses !== undefined) changed = setAddresses(changed, change.addresses, isOld);
  if (changed === card) return card;
  const stamp = new Date(now).toISOString().replace(/\.\d+Z$/, "Z");
  const [old] = listLines(card, "REV");
  const value = isNew ? stamp.replaceAll(/[-:]/g, "") : stamp;
  return replaceLines(changed, old === undefined ? [] : [old], [changeLine(old, "REV", { value })]);
}

/** Other parts of a name, such as a title before it, stay. */
function setNameParts(card: ContentBlock, { given_name, family_name }: ContactChange, isOld: boolean): ContentBlock {
  if (given_name === undefined && family_name === undefined) return card;
  const [old] = listLines(card, "N");
  const value = old && readLine(old)?.values[0];
  const [family = "", given = "", ...rest] = typeof value === "string" ? [value] : (value ?? []);
  const present = readNameParts(card);
  const isSame = (family_name ?? present.family) === present.family && (given_name ?? present.given) === present.given;
  if (isSame && old !== undefined) return card;
  const parts = [family_name ?? family, given_name ?? given, ...rest, "", "", ""].slice(0, 5);
  return replaceLines(card, old === undefined ? [] : [old], [writeLine("N", parts, { old, isOld })]);
}

/** Units of the organization go with it. */
function setOrganization(card: ContentBlock, text: string, isOld: boolean): ContentBlock {
  if (readParts(card, "ORG").filter(Boolean).join(", ") === text) return card;
  const [old, ...others] = listLines(card, "ORG");
  if (text === "" && others.length > 0)
    throw refuseValue("organization", "cannot be taken away: another one would stay.", "Give it a new text.");
  const line = text === "" ? [] : [writeLine("ORG", [text], { old, isOld })];
  return replaceLines(card, old === undefined ? [] : [old], line);
}

/** The year that Apple writes where there is none. */
const NO_YEAR = "1604";

function setBirthday(card: ContentBlock, text: string, isNew: boolean): ContentBlock {
  if (text === (readBirthday(card) ?? "")) return card;
  const [old] = listLines(card, "BDAY");
  const hasYear = !text.startsWith("-");
  const omitted = { "x-apple-omit-year": NO_YEAR };
  const value = isNew ? text.replaceAll(/(?<=\d)-/g, "") : text.replace(/^-/, NO_YEAR);
  const drops = ["value", "x-apple-omit-year", "calscale"];
  const line = changeLine(old, "BDAY", { value, drops, params: hasYear || isNew ? {} : omitted });
  return replaceLines(card, old === undefined ? [] : [old], text === "" ? [] : [line]);
}

function setWays(card: ContentBlock, name: "EMAIL" | "TEL", ways: readonly GivenWay[], isOld: boolean): ContentBlock {
  const left = readWays(card, name);
  const lines = ways.map(({ value, type }): ContentLine => {
    // One that was there keeps its line, and so what the line says beside it.
    const same = (one: (typeof left)[number]) =>
      type === undefined || (one.type.type ?? "").toLowerCase() === type.toLowerCase();
    const exact = left.findIndex((one) => one.value === value && same(one));
    const at = exact >= 0 ? exact : left.findIndex((one) => one.value === value);
    const [old] = at < 0 ? [] : left.splice(at, 1);
    if (old === undefined) return writeLine(name, value, { params: toParams(type), isOld });
    return same(old) ? old.line : changeLine(old.line, name, { params: keepTypes(old.line, type) });
  });
  const old = readWays(card, name).map(({ line }) => line);
  return withoutLabels(card, replaceLines(card, old, lines, name));
}

/** What every such line says stays where its purpose is another one. */
function keepTypes(line: ContentLine, type: string | undefined): ContentParams {
  const kept = listTypes(readRawLine(line)?.params ?? {}).filter((one) => one !== "" && COMMON_TYPES.includes(one));
  const { type: own = [] } = toParams(type);
  const all = [...kept, ...(typeof own === "string" ? [own] : own)].map((one) => one.toUpperCase());
  return all.length === 0 ? {} : { type: all };
}

function setAddresses(card: ContentBlock, addresses: readonly GivenAddress[], isOld: boolean): ContentBlock {
  const old = listLines(card, "ADR").flatMap((line) =>
    readAddress(card, line).map((address) => ({ line, known: JSON.stringify(sortFields(address)) })),
  );
  const left = [...old];
  const lines = addresses.map((address) => {
    const at = left.findIndex(({ known }) => known === JSON.stringify(sortFields(address)));
    const [same] = at < 0 ? [] : left.splice(at, 1);
    const { street = "", city = "", region = "", postal_code = "", country = "", type } = address;
    const parts = ["", "", street, city, region, postal_code, country];
    return same?.line ?? writeLine("ADR", parts, { params: toParams(type), isOld });
  });
  return withoutLabels(
    card,
    replaceLines(
      card,
      old.map(({ line }) => line),
      lines,
      "ADR",
    ),
  );
}

function sortFields(address: GivenAddress): [string, unknown][] {
  return Object.entries(address)
    .filter(([, value]) => value !== undefined && value !== "")
    .sort(([a], [b]) => (a < b ? -1 : 1));
}

/** Types are words; throws ServiceError 400 for another text. */
function toParams(type: string | undefined): ContentParams {
  if (type === undefined || type === "") return {};
  const words = type.split(/,\s*/);
  if (words.every((word) => /^[A-Za-z0-9-]+$/.test(word))) return { type: words.map((word) => word.toUpperCase()) };
  throw refuseValue("type", `must be one word, or the one that is there already: "${type}".`);
}

/** The card without labels whose lines are gone, or have got a type of their own. */
function withoutLabels(before: ContentBlock, card: ContentBlock): ContentBlock {
  const isThere = new Set(card.entries);
  const gone = before.entries.filter(
    (entry): entry is ContentLine =>
      "raw" in entry && entry.group !== "" && entry.name !== "X-ABLABEL" && !isThere.has(entry),
  );
  const groups = new Set(gone.map(({ group }) => group));
  const labels = listLines(card, "X-ABLABEL").filter(({ group }) => groups.has(group));
  return labels.length === 0 ? card : replaceLines(card, labels, []);
}
