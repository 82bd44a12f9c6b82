import { type AllowedHosts, readAllowedHosts } from "../../service/fetch/address-rules.ts";
import type { Network } from "../../service/fetch/guarded-connector.ts";
import { isHtmlPage } from "../../service/fetch/html-page.ts";
import { readUrl } from "../../service/fetch/open-url.ts";
import { nameArgument, refuseUrl } from "../../service/fetch/url-refusal.ts";
import { createWebDocuments, type WebDocument, type WebDocuments } from "../../service/fetch/web-documents.ts";
import { chooseTrashFolder } from "../../service/files/write-file.ts";
import { refuseValue, ServiceError } from "../../service/service-error.ts";
import { createGate } from "../../shared/base/concurrency.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import type { ActionContext } from "../port/integration.ts";
import { checkState } from "../port/preview.ts";
import { createFeedParser, type FeedParser } from "./feed-parser.ts";
import { type Entry, type Feed, FeedShelf, type StoredFeed, toFeedId } from "./feed-shelf.ts";
import type { FeedReader, FeedWithEntries, NewFeed } from "./feeds.ts";
import { seeFeed, seeNewFeed } from "./preview-feed.ts";
import { findFeeds } from "./read-feed.ts";

const MAX_FEED_BYTES = 4 * 1024 * 1024;
/** A host is asked no more often. */
const FRESH_MS = 10 * 60 * 1000;
/** One call waits no longer for all its feeds. */
const REFRESH_MS = 25_000;
/** Entries of one feed that are kept: those a feed no longer shows, too. */
const MAX_KEPT = 500;
const MAX_KEPT_CHARS = 8_000_000;
const TOO_LONG = "Its entries are too long to be kept all: the last ones are left out.";

/** The usual hints are about files. */
const HINTS = {
  media_url_blocked:
    "Give the public https address of a feed. The owner of this service can allow a host of theirs with --allow-host HOST:PORT.",
  media_url_failed: "Give the address of a feed that anyone can open without signing in.",
  media_url_unavailable: "Try again later.",
  file_too_large: "Give the address of a shorter feed, such as one for a part of the site.",
};

/** Options of the readers. */
export interface FeedOptions {
  /** Hosts of the owner that may be reached although they are not public. */
  readonly allowed?: AllowedHosts;
  /** Tests replace it; no setting does. */
  readonly network?: Network;
}

/** Creates the ways to feeds; connects nowhere yet. */
export function createFeedReaders({ allowed = readAllowedHosts([]), network }: FeedOptions) {
  const web = createWebDocuments({ allowed, ...(network && { network }) });
  // The copies of one feed are written one after another.
  const turn = createGate(1);
  const means = { web, turn, parse: createFeedParser() };
  return { open: (context: ActionContext): FeedReader => new ShelvedReader(context, means) };
}

interface ReaderMeans {
  readonly web: WebDocuments;
  readonly turn: ReturnType<typeof createGate>;
  readonly parse: FeedParser;
}

class ShelvedReader implements FeedReader {
  readonly #context: ActionContext;
  readonly shelf: FeedShelf;
  readonly #means: ReaderMeans;

  constructor(context: ActionContext, means: ReaderMeans) {
    this.#context = context;
    this.shelf = new FeedShelf(context);
    this.#means = means;
  }

  async planSubscribe(url: string): Promise<NewFeed> {
    try {
      const address = this.#means.web.check(url);
      const known = await this.shelf.checkNew(address.href);
      return { url: address, hosts: known.flatMap((feed) => URL.parse(feed.url)?.host ?? []) };
    } catch (error) {
      throw nameArgument(error, "arguments.url", HINTS);
    }
  }

  async subscribe(url: string, title: string | undefined): Promise<FeedWithEntries> {
    const { signal, keep, leave } = this.#context;
    try {
      const address = readUrl(url).href;
      await this.shelf.checkNew(address);
      checkState(this.#context, seeNewFeed(readUrl(url)));
      const document = await this.#means.web.fetch(address, { maxBytes: MAX_FEED_BYTES, signal });
      if (document === undefined) throw refuseUrl("media_url_failed", "gives nothing.");
      const { stored, title: own } = await this.#take(document, { address, signal });
      const added = new Date(this.#context.now()).toISOString();
      const feed = { id: toFeedId(address), url: address, title: title ?? own, added };
      await keep?.({ feed });
      await this.shelf.add(feed);
      leave?.({});
      // A disk that does not take the copy is no reason to say that nothing was done.
      await this.shelf.keep(feed, stored).catch(() => {});
      return { feed, stored };
    } catch (error) {
      throw nameArgument(error, "arguments.url", HINTS);
    }
  }

  async unsubscribe(id: string, url: string): Promise<{ feed: Feed; trashedTo: string }> {
    const feed = await this.#getAt(id, url);
    checkState(this.#context, seeFeed(feed));
    const trashFolder = chooseTrashFolder([], this.#context.now());
    await this.#context.keep?.({ feed, trashFolder });
    const trashedTo = await this.shelf.remove(feed, trashFolder);
    this.#context.leave?.({});
    return { feed, trashedTo };
  }

  async planUnsubscribe(id: string, url: string): Promise<FeedWithEntries> {
    const feed = await this.#getAt(id, url);
    return { feed, stored: await this.shelf.read(feed) };
  }

  async #getAt(id: string, url: string): Promise<Feed> {
    const feed = await this.shelf.get(id);
    if (feed.url !== url) throw refuseValue("url", `is not the address of feed ${id}.`, `That is ${feed.url}`);
    return feed;
  }

  async list(): Promise<FeedWithEntries[]> {
    const all: FeedWithEntries[] = [];
    for (const feed of await this.shelf.list()) all.push({ feed, stored: await this.shelf.read(feed) });
    return all;
  }

  async refresh(id: string | undefined): Promise<FeedWithEntries[]> {
    const feeds = id === undefined ? await this.shelf.list() : [await this.shelf.get(id)];
    const limit = AbortSignal.timeout(REFRESH_MS);
    return Promise.all(feeds.map(async (feed) => ({ feed, stored: await this.#refreshOne(feed, limit) })));
  }

  async find(entryId: string): Promise<{ feed: Feed; entry: Entry | undefined }> {
    const feed = await this.shelf.get(entryId.split("-")[0] ?? "");
    const stored = await this.shelf.read(feed);
    return { feed, entry: stored?.entries.find(({ id }) => id === entryId) };
  }

  async #refreshOne(feed: Feed, limit: AbortSignal): Promise<StoredFeed | undefined> {
    const before = await this.shelf.read(feed);
    const { signal, now } = this.#context;
    const age = now() - (before?.checkedAt ?? 0);
    if (before !== undefined && age >= 0 && age < FRESH_MS) return before;
    const after = await this.#ask(feed, before, AbortSignal.any([signal, limit])).catch((error: unknown) => {
      signal.throwIfAborted();
      const problem =
        error instanceof ServiceError ? error.message : limit.aborted ? "It gave no answer in time." : undefined;
      if (problem === undefined) throw error;
      return { entries: [], ...before, checkedAt: now(), problem };
    });
    // A disk that does not take the copy is no reason not to show it.
    await this.#means.turn.run(() => this.shelf.keep(feed, after)).catch(() => {});
    return after;
  }

  async #ask({ url }: Feed, before: StoredFeed | undefined, signal: AbortSignal): Promise<StoredFeed> {
    const known = before && { etag: before.etag, lastModified: before.lastModified };
    const document = await this.#means.web.fetch(url, { maxBytes: MAX_FEED_BYTES, signal, ...(known && { known }) });
    if (document === undefined && before !== undefined)
      return { ...before, checkedAt: this.#context.now(), problem: undefined };
    if (document === undefined) throw refuseUrl("media_url_failed", "gives nothing.");
    return (await this.#take(document, { address: url, before, signal })).stored;
  }

  async #take(
    document: WebDocument,
    { address, before, signal }: { address: string; before?: StoredFeed | undefined; signal: AbortSignal },
  ): Promise<{ stored: StoredFeed; title: string }> {
    const { bytes, contentType, url, version } = document;
    const parsed = await this.#means.parse({ bytes, contentType, address: url.href }, signal);
    if (parsed === undefined) throw refuseDocument(document);
    const now = this.#context.now();
    const entries = new Map<string, Entry>();
    const known = new Map(before?.entries.map((entry) => [entry.id, entry]));
    for (const { key, ...entry } of parsed.entries) {
      const id = `${toFeedId(address)}-${sha256Hex(key).slice(0, 12)}`;
      if (!entries.has(id))
        entries.set(id, { ...entry, id, found: known.get(id)?.found ?? new Date(now).toISOString() });
    }
    const gone = [...known.values()].filter(({ id }) => !entries.has(id));
    const kept = limitEntries([...entries.values(), ...gone]);
    const notes = kept.length < entries.size ? [...parsed.notes, TOO_LONG] : parsed.notes;
    return { stored: { checkedAt: now, ...version, site: parsed.site, notes, entries: kept }, title: parsed.title };
  }
}

/** What an address gives that is no feed: of a web page the feeds that it names. */
function refuseDocument({ bytes, contentType, url }: WebDocument): ServiceError {
  if (!isHtmlPage(contentType, bytes)) return refuseUrl("media_url_failed", "gives no feed that can be read.");
  const feeds = findFeeds(bytes, url.href);
  const hint = feeds.length === 0 ? "Give the address of the feed." : `Its feeds are: ${feeds.join(" ")}`;
  return refuseUrl("media_url_not_a_file", "leads to a web page, not to a feed.", { hint });
}

function limitEntries(entries: readonly Entry[]): Entry[] {
  let chars = 0;
  return entries.slice(0, MAX_KEPT).filter(({ text }) => {
    chars += text.length;
    return chars <= MAX_KEPT_CHARS;
  });
}
