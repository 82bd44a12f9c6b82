import { parseFeed } from "feedsmith";
import { DomUtils, parseDocument } from "htmlparser2";
import { z } from "zod";
import { cutText } from "../../../base/text.ts";
import { stripHtml } from "../html-text.ts";

/** Characters of one entry that are kept. */
const MAX_TEXT = 100_000;
const MAX_LINE = 500;
/** The newest ones of a feed. */
const MAX_ENTRIES = 200;

/** One entry of a feed. */
interface ParsedEntry {
  /** What the feed calls it by; the same as long as it is the same entry. */
  readonly key: string;
  readonly title: string;
  readonly url: string | undefined;
  readonly author: string | undefined;
  /** ISO 8601. */
  readonly published: string | undefined;
  /** Plain text. */
  readonly text: string;
}

/** What a feed says. */
export interface ParsedFeed {
  readonly title: string;
  /** Address of the site. */
  readonly site: string | undefined;
  readonly entries: readonly ParsedEntry[];
}

const text = z.string().catch("");
/** A text, or an object that holds it, as Atom does. */
const value = z.union([z.string(), z.looseObject({ value: text }).transform((one) => one.value)]).catch("");
/** What is no such item is left out. */
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.map((one) => item.safeParse(one)).flatMap((one) => (one.success ? [one.data] : [])));
const link = z.looseObject({ href: text, rel: z.string().optional().catch(undefined) });
const person = z.union([z.string(), z.looseObject({ name: text }).transform((one) => one.name)]).catch("");
const dc = z.looseObject({ creators: list(z.string()), dates: list(z.string()) }).catch({ creators: [], dates: [] });
const entrySchema = z.looseObject({
  id: text,
  guid: value,
  title: value,
  link: text,
  url: text,
  links: list(link),
  authors: list(person),
  dc,
  pubDate: text,
  published: text,
  updated: text,
  date_published: text,
  date_modified: text,
  description: value,
  summary: value,
  content_html: text,
  content_text: text,
  /** Atom: the text. RSS: an extension with the whole text. */
  content: z.union([z.string(), z.looseObject({ value: text, encoded: text })]).catch(""),
});
const feedSchema = z.looseObject({
  title: value,
  link: text,
  home_page_url: text,
  links: list(link),
  items: list(entrySchema),
  entries: list(entrySchema),
});

/** A document as it was fetched. */
export interface FeedDocument {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Where it was; what it refers to is relative to that. */
  readonly address: string;
}

/** Reads RSS, RDF, Atom or JSON Feed; undefined for anything else. Entities of a DTD are not expanded. */
export function readFeed({ bytes, contentType, address }: FeedDocument): ParsedFeed | undefined {
  const found = parse(decode(bytes, contentType));
  if (found === undefined) return undefined;
  const { items, entries } = found;
  const site = toUrl(found.home_page_url || found.link || findLink(found.links), address);
  const kept = [...items, ...entries].slice(0, MAX_ENTRIES).map((one) => readEntry(one, site ?? address));
  return { title: toLine(found.title) || new URL(address).hostname, site, entries: kept };
}

function parse(document: string): z.output<typeof feedSchema> | undefined {
  try {
    return feedSchema.safeParse(parseFeed(document, { maxItems: MAX_ENTRIES }).feed).data;
  } catch {
    return undefined;
  }
}

/** By the byte order mark, the header, the XML declaration, in this order; else UTF-8. */
function decode(bytes: Uint8Array, contentType: string): string {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const [, declared] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+)["']/i.exec(start) ?? [];
  const [, said] = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType) ?? [];
  const mark = start.startsWith("\xff\xfe") ? "utf-16le" : start.startsWith("\xfe\xff") ? "utf-16be" : undefined;
  try {
    return new TextDecoder(mark ?? said ?? declared ?? "utf-8").decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

function readEntry(entry: z.output<typeof entrySchema>, base: string): ParsedEntry {
  const { content, dc } = entry;
  const whole = typeof content === "string" ? content : content.value || content.encoded;
  const html = entry.content_html || whole || entry.description || entry.summary;
  const body = html === "" ? entry.content_text : stripHtml(html);
  const url = toUrl(entry.url || entry.link || findLink(entry.links), base);
  const times = [entry.published, entry.date_published, entry.pubDate, dc.dates[0], entry.updated, entry.date_modified];
  const title = toLine(entry.title) || toLine(cutText(body, 80)) || "Untitled";
  return {
    key: entry.id || entry.guid || url || title,
    ...{ title, url },
    author: toLine(entry.authors.find(Boolean) ?? dc.creators[0] ?? "") || undefined,
    published: times.map(toTime).find((time) => time !== undefined),
    text: cutText(body, MAX_TEXT),
  };
}

function findLink(links: readonly z.output<typeof link>[]): string {
  return links.find(({ rel }) => (rel ?? "alternate") === "alternate")?.href ?? "";
}

/** Web addresses only: others lead nowhere that a reader could go. */
function toUrl(address: string, base: string): string | undefined {
  const url = address === "" ? null : URL.parse(address.trim(), base);
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= 2000 ? url.href : undefined;
}

function toTime(written: string | undefined): string | undefined {
  const time = Date.parse(written ?? "");
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** A title is HTML in many feeds. */
function toLine(html: string): string {
  return cutText(stripHtml(cutText(html, 10 * MAX_LINE)).replaceAll(/\s+/g, " "), MAX_LINE).trim();
}

const FEED_TYPE = /^application\/(?:rss|atom|rdf|feed)\+(?:xml|json)|^application\/json$/i;
const MAX_FEEDS_SHOWN = 5;

/** Addresses of the feeds that a web page names, at most five. */
export function findFeeds(bytes: Uint8Array, address: string): string[] {
  const page = parseDocument(new TextDecoder().decode(bytes.subarray(0, 512 * 1024)));
  const found = DomUtils.getElementsByTagName("link", page).flatMap(({ attribs }) => {
    const isFeed = /\balternate\b/i.test(attribs.rel ?? "") && FEED_TYPE.test(attribs.type ?? "");
    return isFeed ? [toUrl(attribs.href ?? "", address)] : [];
  });
  return [...new Set(found.filter((url) => url !== undefined))].slice(0, MAX_FEEDS_SHOWN);
}
