import { addressBookQuery, calendarQuery, type DAVResponse } from "tsdav";
import { z } from "zod";
import { shortenText } from "../../shared/base/text.ts";
import { parseHref } from "../text/parse-href.ts";
import type { Collection, CollectionKind, ItemFilter } from "./collection-store.ts";

const DAY_MS = 24 * 60 * 60_000;

/** A collection with its address, which ends with a slash. */
export interface DavCollection extends Collection {
  readonly url: string;
}

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String);
/** A text of an answer: plain, or in a CDATA section. */
export const textSchema = z.union([text, z.looseObject({ _cdata: text }).transform(({ _cdata }) => _cdata)]);
const namedSchema = z.looseObject({ _attributes: z.looseObject({ name: z.string() }) });
const componentsSchema = z.looseObject({
  comp: z.union([z.array(namedSchema), namedSchema.transform((one) => [one])]),
});

/** Asks for the items of a collection, each with its ETag and its content. */
export function queryItems(
  url: string,
  { span }: ItemFilter,
  { accountType }: CollectionKind,
  fetch: typeof globalThis.fetch,
): Promise<DAVResponse[]> {
  if (accountType === "carddav") {
    const props = { "d:getetag": {}, "card:address-data": {} };
    // Not by text: servers differ in which of them they find, and some fail at names of several parts.
    return addressBookQuery({ url, props, depth: "1", fetch });
  }
  const range = span && {
    // Days and times of no zone begin earlier or later than they do for the server.
    _attributes: { start: writeUtc(span.from - DAY_MS), end: writeUtc(span.to + DAY_MS) },
  };
  const event = { _attributes: { name: "VEVENT" }, ...(range && { "time-range": range }) };
  const filters = { "comp-filter": { _attributes: { name: "VCALENDAR" }, "comp-filter": event } };
  return calendarQuery({ url, props: { "d:getetag": {}, "c:calendar-data": {} }, filters, depth: "1", fetch });
}

/** The collection that an answer describes; undefined for what is none of this kind. */
export function readCollection(
  { href = "", props = {} }: DAVResponse,
  homeUrl: string,
  { accountType }: CollectionKind,
): DavCollection | undefined {
  const types = Object.keys(z.record(z.string(), z.unknown()).catch({}).parse(props.resourcetype));
  if (!types.includes(accountType === "caldav" ? "calendar" : "addressbook")) return undefined;
  const components = componentsSchema.safeParse(props.supportedCalendarComponentSet).data?.comp;
  if (components !== undefined && !components.some(({ _attributes }) => _attributes.name === "VEVENT"))
    return undefined;
  const url = parseHref(href, homeUrl);
  if (url === null) return undefined;
  const path = url.pathname.replace(/\/*$/, "/");
  const id = path.split("/").at(-2) ?? "";
  const name = textSchema.safeParse(props.displayname).data?.replaceAll(/\s+/g, " ").trim();
  return { id, name: shortenText(name || decode(id), 200), url: new URL(path, url).href };
}

function writeUtc(instant: number): string {
  return `${new Date(instant).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
