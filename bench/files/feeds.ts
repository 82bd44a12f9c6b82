import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { basename, join } from "node:path";
import { Readable } from "node:stream";
import { createFeedParser } from "../../src/apps/feeds/feed-parser.ts";
import { stripHtml } from "../../src/apps/text/html-text.ts";
import { listFiles } from "./packages.ts";
import { compare, flatten, type Verdict } from "./verdict.ts";

/** An entry as a suite expects it; what it does not say is not compared. */
interface ExpectedEntry {
  readonly title?: string | undefined;
  readonly url?: string | undefined;
  readonly author?: string | undefined;
  /** A time that a browser reads. */
  readonly published?: string | undefined;
  readonly enclosures?: readonly string[];
  readonly text?: string | undefined;
}

/** A value of which nothing is known; what it does not have is undefined. */
interface Json {
  readonly [key: string]: Json | undefined;
}

const parse = createFeedParser();
const ADDRESS = "https://feeds.example/dir/feed.xml";

async function judge(file: string, expected: readonly ExpectedEntry[]): Promise<Verdict> {
  const document = { bytes: await readFile(file), contentType: "", address: ADDRESS };
  const feed = await parse(document, AbortSignal.timeout(60_000));
  if (feed === undefined) return { file, differences: [], refused: "It is no feed that can be read." };
  const count = compare("entries", String(feed.entries.length), String(expected.length));
  const each = expected.flatMap((one, index) => {
    const ours = feed.entries[index];
    if (ours === undefined || count.length > 0) return [];
    const at = (what: string) => `${index + 1} ${what}`;
    const time = one.published === undefined ? undefined : new Date(one.published).toISOString();
    const files = (one.enclosures ?? []).filter(
      (url) => !ours.enclosures.includes(URL.parse(url, ADDRESS)?.href ?? url),
    );
    return [
      ...(one.title ? compareTexts(at("title"), ours.title, one.title) : []),
      ...(one.url ? compare(at("url"), ours.url, URL.parse(one.url, ADDRESS)?.href ?? one.url) : []),
      ...(one.author ? compare(at("author"), ours.author, one.author) : []),
      ...(time ? compare(at("published"), ours.published?.slice(0, 19), time.slice(0, 19)) : []),
      ...files.map((url) => `${at("enclosure")}: ${url} is missing`),
      ...(one.text ? compareTexts(at("text"), ours.text, one.text) : []),
    ];
  });
  const differences = [...count, ...each];
  return differences.length > 0 && feed.notes.length > 0
    ? { file, differences, refused: feed.notes.join(" ") }
    : { file, differences };
}

/** Whether ours says what theirs does, be that HTML or text. */
function compareTexts(what: string, ours: string, theirs: string): string[] {
  const text = toLetters(ours);
  return text === toLetters(theirs) ? [] : compare(what, text, toLetters(stripHtml(theirs)));
}

/** Without the addresses of links, and without spaces. */
function toLetters(text: string): string {
  return flatten(text.replaceAll(/ ?\((?:https?|mailto):[^)\s]*\)/g, ""))
    .replaceAll(/[\s…]/g, "")
    .slice(0, 400);
}

const first = (...all: readonly unknown[]): string | undefined =>
  all
    .map((one) => (typeof one === "object" && one !== null && "value" in one ? one.value : one))
    .find((one) => typeof one === "string" && one !== "") as string | undefined;
const list = (all: unknown): readonly Json[] => (Array.isArray(all) ? all : []);

/** The suite of gofeed has the whole of each feed as JSON. */
export async function judgeGofeed(folder: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(folder, /\.xml$/)) {
    const known = file.replace(/\.xml$/, ".json");
    if (!existsSync(known) || /\/translator\/json\//.test(file)) continue;
    const feed: Json = JSON.parse(await readFile(known, "utf8"));
    const items = list(feed.items ?? feed.entries);
    verdicts.push(await judge(file, items.map(readGofeed)));
  }
  return verdicts;
}

function readGofeed(item: Json): ExpectedEntry {
  const link = list(item.links).find((one) => typeof one === "object" && first(one.rel ?? "alternate") === "alternate");
  const people = list(item.authors);
  const author = first(item.author?.name, item.author?.email, item.author);
  const files = [...list(item.enclosures), ...(item.enclosure ? [item.enclosure] : [])];
  return {
    title: first(item.title),
    url: first(item.link, link?.href),
    author: people.length > 1 ? undefined : first(people[0]?.name, people[0]?.email, author),
    published: first(item.publishedParsed, item.pubDateParsed, item.updatedParsed),
    enclosures: files.flatMap((one) => first(one.url) ?? []),
    text: first(item.content, item.description, item.summary),
  };
}

/** The suite of rss-parser has what it makes of each feed as JSON. */
export async function judgeRssParser(folder: string, readers: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(join(folder, "package/test/input"), /./)) {
    const name = basename(file).replace(/\.\w+$/, "");
    const known = join(folder, `package/test/output/${name}.json`);
    const feed: Json = existsSync(known) ? JSON.parse(await readFile(known, "utf8")) : { feed: { items: [] } };
    const items = list(feed.feed?.items ?? feed.items);
    const read = (item: Json): ExpectedEntry => ({
      title: first(item.title),
      url: first(item.link),
      author: first(item.creator, item.author),
      published: first(item.isoDate),
      enclosures: first(item.enclosure?.url) ? [first(item.enclosure?.url) ?? ""] : [],
      text: first(item["content:encoded"], item.content),
    });
    verdicts.push(await judge(file, existsSync(known) ? items.map(read) : await readAgain(file, readers)));
  }
  return verdicts;
}

const READER = "feedparser";

/** The suite of feedparser has its feeds alone: a newer version of it says what is in them. */
export async function judgeFeedparser(folder: string, readers: string): Promise<Verdict[]> {
  const verdicts: Verdict[] = [];
  for (const file of await listFiles(join(folder, "package/test/feeds"), /./))
    verdicts.push(await judge(file, await readAgain(file, readers)));
  return verdicts;
}

async function readAgain(file: string, readers: string): Promise<ExpectedEntry[]> {
  // Not one of our packages: the run brings it along.
  const FeedParser = createRequire(join(readers, "package.json"))(READER);
  const bytes = await readFile(file);
  const items: ExpectedEntry[] = [];
  const parser = new FeedParser({ feedurl: ADDRESS });
  await new Promise<void>((resolve) => {
    parser.on("error", resolve).on("end", resolve);
    parser.on("readable", () => {
      for (let item = parser.read(); item !== null; item = parser.read())
        items.push({
          title: item.title,
          url: item.link ?? undefined,
          author: item.author ?? undefined,
          published: item.pubdate && Number.isFinite(+item.pubdate) ? item.pubdate.toISOString() : undefined,
          enclosures: item.enclosures.map(({ url }: { url: string }) => url),
          text: item.description ?? item.summary ?? undefined,
        });
    });
    Readable.from([bytes]).pipe(parser);
  });
  return items;
}
