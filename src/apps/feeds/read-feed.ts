import { isUtf8 } from "node:buffer";
import { parseFeed } from "feedsmith";
import { DomUtils, parseDocument } from "htmlparser2";
import { z } from "zod";
import { cutText, toOneLine } from "../../shared/base/text.ts";
import { decodeText } from "../text/decode-text.ts";
import { stripHtml } from "../text/html-text.ts";
import { readFeedTime } from "./feed-time.ts";

/** Characters of one entry that are kept. */
const MAX_TEXT = 100_000;
const MAX_LINE = 500;
const MAX_ENCLOSURES = 10;
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
  /** Addresses of files that belong to it, such as the sound of a podcast; at most ten. */
  readonly enclosures: readonly string[];
  /** Plain text. */
  readonly text: string;
}

/** What a feed says. */
export interface ParsedFeed {
  readonly title: string;
  /** Address of the site. */
  readonly site: string | undefined;
  readonly entries: readonly ParsedEntry[];
  /** A sentence for each thing that is left out or guessed. */
  readonly notes: readonly string[];
}

const text = z.string().catch("");
/** A text, or an object that holds it with its type, as in Atom. */
const typed = z
  .union([
    z.string().transform((one) => ({ value: one, type: undefined, base: undefined })),
    z
      .looseObject({ value: text, type: z.string().optional(), xml: z.looseObject({ base: text }).optional() })
      .transform(({ value, type, xml }) => ({ value, type, base: xml?.base })),
  ])
  .catch({ value: "", type: undefined, base: undefined });
/** What is no such item is left out. */
const list = <Item extends z.ZodType>(item: Item) =>
  z
    .array(z.unknown())
    .catch([])
    .transform((all) => all.map((one) => item.safeParse(one)).flatMap((one) => (one.success ? [one.data] : [])));
const none: never[] = [];
const link = z.looseObject({ href: text, rel: z.string().optional().catch(undefined) });
const file = z.looseObject({ url: text });
const person = z
  .union([z.string(), z.looseObject({ name: text, email: text }).transform(({ name, email }) => name || email)])
  .catch("");
const dublin = z
  .looseObject({ creators: list(z.string()), dates: list(z.string()), descriptions: list(z.string()) })
  .catch({ creators: none, dates: none, descriptions: none });
const terms = z
  .looseObject({ issued: list(z.string()), created: list(z.string()), modified: list(z.string()) })
  .catch({ issued: none, created: none, modified: none });
const itunes = z
  .looseObject({ title: text, author: text, summary: text, subtitle: text })
  .catch({ title: "", author: "", summary: "", subtitle: "" });
const mediaParts = { contents: list(file), description: typed };
const media = z
  .looseObject({ ...mediaParts, groups: list(z.looseObject(mediaParts)) })
  .catch({ contents: none, description: typed.parse(""), groups: none });
const xml = z.looseObject({ base: text }).catch({ base: "" });
const entrySchema = z.looseObject({
  id: text,
  guid: z.union([z.string(), z.looseObject({ value: text, isPermaLink: z.boolean().optional() })]).catch(""),
  title: typed,
  link: text,
  url: text,
  links: list(link),
  enclosures: list(file),
  attachments: list(file),
  authors: list(person),
  /** Links of Atom in RSS. */
  atom: z.looseObject({ links: list(link) }).catch({ links: none }),
  /** Where Atom has an entry from. */
  source: z.looseObject({ authors: list(person) }).catch({ authors: none }),
  ...{ dc: dublin, dcterms: terms, itunes, media, xml },
  pubDate: text,
  published: text,
  updated: text,
  date_published: text,
  date_modified: text,
  description: typed,
  summary: typed,
  content_html: text,
  content_text: text,
  /** Atom: the text. RSS: an extension with the whole text. */
  content: z.union([z.looseObject({ encoded: z.string() }).transform(({ encoded }) => toHtml(encoded)), typed]),
});
const feedSchema = z.looseObject({
  title: typed,
  link: text,
  home_page_url: text,
  links: list(link),
  authors: list(person),
  managingEditor: person,
  ...{ dc: dublin, itunes, xml },
  items: list(entrySchema),
  entries: list(entrySchema),
});
type Typed = z.output<typeof typed>;
type FeedData = z.output<typeof feedSchema>;

function toHtml(value: string): Typed {
  return { value, type: "html", base: undefined };
}

/** A document as it was fetched. */
export interface FeedDocument {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Where it was; what it refers to is relative to that. */
  readonly address: string;
}

/** Reads RSS, RDF, Atom or JSON Feed; undefined for anything else. Entities of a DTD are not expanded. */
export function readFeed({ bytes, contentType, address }: FeedDocument): ParsedFeed | undefined {
  const { text: document, why } = decode(bytes, contentType);
  const found = parse(document);
  if (found === undefined) return undefined;
  const { format, feed } = found;
  const own = toUrl(feed.xml.base, address) ?? address;
  const site = toUrl(feed.home_page_url || feed.link || findLink(feed.links), own);
  // Addresses in Atom are relative to the document; of the others most are to the site.
  const base = format === "atom" || feed.xml.base !== "" ? own : (site ?? address);
  const author = [...feed.authors, feed.managingEditor, feed.itunes.author, ...feed.dc.creators].find(Boolean) ?? "";
  const all = [...feed.items, ...feed.entries];
  const read = all.slice(0, MAX_ENTRIES).map((one) => readEntry(one, { format, base, author }));
  const entries = read.map(({ entry }) => entry);
  const timeless = read.filter(({ hasLostTime }) => hasLostTime).length;
  const notes = [
    ...(why === undefined ? [] : [why]),
    ...(all.length > MAX_ENTRIES ? [`Only its first ${MAX_ENTRIES} entries are read.`] : []),
    ...(timeless > 0
      ? [`The times of ${timeless} of its entries cannot be read: they stand where they were found.`]
      : []),
  ];
  const keys = Map.groupBy(entries, ({ key }) => key);
  return {
    title: toLine(feed.title, base) || new URL(address).hostname,
    site,
    notes,
    // Some feeds call all their entries by one name.
    entries: entries.map((one) =>
      (keys.get(one.key)?.length ?? 0) > 1 ? { ...one, key: `${one.key} ${one.url}` } : one,
    ),
  };
}

function parse(document: string): { format: string; feed: FeedData } | undefined {
  try {
    const { format, feed } = parseFeed(document, { maxItems: MAX_ENTRIES + 1 });
    const { data } = feedSchema.safeParse(feed);
    return data && { format, feed: data };
  } catch {
    return undefined;
  }
}

/** By the byte order mark, the header, the XML declaration, in this order; else UTF-8. */
function decode(bytes: Uint8Array, contentType: string): ReturnType<typeof decodeText> {
  const start = Buffer.from(bytes.subarray(0, 200)).toString("latin1");
  const [, declared] = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w-]+)["']/i.exec(start) ?? [];
  const [, said] = /;\s*charset\s*=\s*"?([\w-]+)/i.exec(contentType) ?? [];
  const isWide = start.startsWith("\xff\xfe") || start.startsWith("\xfe\xff");
  const mark = isWide ? "utf-16" : start.startsWith("\xef\xbb\xbf") ? "utf-8" : undefined;
  return decodeText(bytes, mark ?? said ?? declared ?? "utf-8");
}

function readEntry(
  entry: z.output<typeof entrySchema>,
  feed: { readonly format: string; readonly base: string; readonly author: string },
): { readonly entry: ParsedEntry; readonly hasLostTime: boolean } {
  const { content, dc, dcterms, itunes, media } = entry;
  const guid = typeof entry.guid === "string" ? { value: entry.guid } : entry.guid;
  const isAddress = guid.isPermaLink !== false && /^https?:/i.test(guid.value);
  const base = toUrl(entry.xml.base, feed.base) ?? feed.base;
  const url = toUrl(
    entry.url || entry.link || findLink([...entry.links, ...entry.atom.links]) || (isAddress ? guid.value : ""),
    base,
  );
  const isPlain = feed.format === "atom" || feed.format === "json";
  const body = [
    toHtml(entry.content_html),
    content,
    isPlain ? entry.description : toHtml(entry.description.value),
    ...[entry.content_text, entry.summary, itunes.summary, media.description],
    ...[...media.groups.map(({ description }) => description), dc.descriptions[0] ?? "", itunes.subtitle],
  ]
    .map((one) => (typeof one === "string" ? { value: one, type: isPlain ? "text" : undefined, base: undefined } : one))
    .map(decodeBinary)
    .find(({ value }) => value.trim() !== "");
  const text = body === undefined ? "" : toText(body, base);
  const named = toLine(feed.format === "json" ? { ...entry.title, type: "text" } : entry.title, base);
  const title =
    named ||
    toLine({ value: itunes.title, type: undefined, base: undefined }, base) ||
    toLine({ value: cutText(text, 80), type: "text", base: undefined }, base) ||
    "Untitled";
  const published = [entry.published, entry.date_published, entry.pubDate, ...dc.dates, ...dcterms.issued];
  const times = [...published, ...dcterms.created, entry.updated, entry.date_modified, ...dcterms.modified];
  const authors =
    [entry.authors, dc.creators, [itunes.author], entry.source.authors, [feed.author]].find((all) =>
      all.some(Boolean),
    ) ?? [];
  const files = [entry.enclosures, entry.attachments, media.contents, ...media.groups.map(({ contents }) => contents)];
  const enclosures = entry.links.flatMap(({ rel, href }) => (rel === "enclosure" ? [href] : []));
  const time = times.map(readFeedTime).find((one) => one !== undefined);
  const parsed: ParsedEntry = {
    key: entry.id || guid.value || url || title,
    ...{ title, url },
    author: cutText(toOneLine(authors.filter(Boolean).join(", ")), MAX_LINE) || undefined,
    published: time,
    enclosures: [...files.flat().map((one) => one.url), ...enclosures]
      .flatMap((one) => toUrl(one, base) ?? [])
      .filter((one, index, all) => all.indexOf(one) === index)
      .slice(0, MAX_ENCLOSURES),
    text: cutText(text, MAX_TEXT),
  };
  return { entry: parsed, hasLostTime: time === undefined && times.some(Boolean) };
}

function findLink(links: readonly z.output<typeof link>[]): string {
  return links.find(({ rel }) => (rel ?? "alternate") === "alternate")?.href ?? "";
}

/** Web addresses only: others lead nowhere that a reader could go. */
function toUrl(address: string, base: string): string | undefined {
  const url = address === "" ? null : URL.parse(address.trim(), base);
  return url !== null && /^https?:$/.test(url.protocol) && url.href.length <= 2000 ? url.href : undefined;
}

/** A type of Atom that is neither text nor XML stands for bytes in Base64 (RFC 4287, section 4.1.3.3); text if they are. */
function decodeBinary(one: Typed): Typed {
  if (!/^(?!text\/)[^/]*\/(?!.*(?:xml|html))/i.test(one.type ?? "")) return one;
  const bytes = Buffer.from(one.value, "base64");
  return { ...one, value: isUtf8(bytes) && !bytes.includes(0) ? bytes.toString() : "", type: "text" };
}

/** What only HTML has: an end tag, a tag without one, or a character reference. */
const LOOKS_LIKE_HTML = /<\/[a-z][a-z\d]*\s*>|<(?:br|p|img|hr)[\s/>]|&(?:#\d+|#x[\da-f]+|[a-z]+\d*);/i;

/** HTML where the type says so or, without a type, where it looks like it. */
function toText({ value, type, base }: Typed, outer: string): string {
  const isHtml = type === undefined ? LOOKS_LIKE_HTML.test(value) : /html/i.test(type);
  return isHtml ? stripHtml(value, toUrl(base ?? "", outer) ?? outer) : value.trim();
}

function toLine(line: Typed, base: string): string {
  return cutText(toOneLine(toText({ ...line, value: cutText(line.value, 10 * MAX_LINE) }, base)), MAX_LINE).trim();
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
