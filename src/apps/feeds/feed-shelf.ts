import { readdir } from "node:fs/promises";
import { z } from "zod";
import { type Folder, readWholeFile } from "../../service/files/folder.ts";
import { giveName, writeFileDurably } from "../../service/files/write-file.ts";
import { refuseMissing, refuseValue, ServiceError } from "../../service/service-error.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { parseJson } from "../../shared/base/json.ts";
import { localFolder, saveFile } from "../port/connection-folder.ts";
import type { ActionContext } from "../port/integration.ts";
import { refuseChanged } from "../port/preview.ts";

/** Most subscriptions of one connection. */
const MAX_FEEDS = 200;
const MAX_FILE = 32 * 1024 * 1024;
const TAKEN = "Take feed_id of an answer of feeds_list_feeds.";
const FEED_FILE = /^([0-9a-f]{12})\.feed\.json$/;

const fileSchema = z.object({
  url: z.string(),
  title: z.string(),
  /** ISO 8601. */
  added: z.string(),
});

/** A feed that is subscribed to, as it is kept. */
export const feedSchema = fileSchema.extend({ id: z.string() });
/** A feed that is subscribed to. */
export type Feed = Readonly<z.output<typeof feedSchema>>;

const optional = z.string().optional();
const entrySchema = z.object({
  id: z.string(),
  title: z.string(),
  url: optional,
  author: optional,
  /** ISO 8601. */
  published: optional,
  /** When it was seen first, ISO 8601. */
  found: z.string(),
  enclosures: z.array(z.string()).readonly().optional(),
  text: z.string(),
});
const storedSchema = z.object({
  /** When its host was asked last, in milliseconds since the epoch. */
  checkedAt: z.number(),
  etag: optional,
  lastModified: optional,
  site: optional,
  /** Why it could not be read then. */
  problem: optional,
  /** What was left out or guessed then. */
  notes: z.array(z.string()).readonly().optional(),
  entries: z.array(entrySchema),
});

/** An entry of a feed. */
export type Entry = z.output<typeof entrySchema>;
/** What is known of a feed's content: a copy that may be dropped at any time. */
export type StoredFeed = z.output<typeof storedSchema>;

/** The feeds of one connection for the length of one call: files in its folder. */
export class FeedShelf {
  readonly #context: Pick<ActionContext, "connection" | "now">;

  constructor(context: Pick<ActionContext, "connection" | "now">) {
    this.#context = context;
  }

  /** Every subscription, by its title. */
  async list(): Promise<Feed[]> {
    const feeds = await this.#open(async (folder) => {
      const ids = (await readdir(folder.self)).flatMap((name) => FEED_FILE.exec(name)?.[1] ?? []);
      const found: Feed[] = [];
      for (const id of ids.slice(0, MAX_FEEDS)) {
        const feed = await readFeed(folder, id);
        if (feed !== undefined) found.push(feed);
      }
      return found;
    });
    return feeds.sort((a, b) => a.title.localeCompare(b.title, "en") || a.id.localeCompare(b.id));
  }

  /** Throws ServiceError 404. */
  async get(id: string): Promise<Feed> {
    const found = (await this.list()).find((feed) => feed.id === id);
    if (found === undefined)
      throw refuseMissing(`There is no subscription "${id}".`, "Take feed_id of an answer of feeds_list_feeds.");
    return found;
  }

  /** The subscriptions that are there. Throws ServiceError 400 naming `url` when it is one, or when there are too many. */
  async checkNew(url: string): Promise<Feed[]> {
    const known = await this.list();
    if (known.some((feed) => feed.url === url)) throw refuseValue("url", "is subscribed to already.", TAKEN);
    if (known.length >= MAX_FEEDS)
      throw refuseValue("url", `would be more than ${MAX_FEEDS} feeds.`, "Unsubscribe from another one first.");
    return known;
  }

  /** Refuses as {@link checkNew} does. */
  async add({ id, ...feed }: Feed): Promise<void> {
    await this.checkNew(feed.url);
    const file = { name: toName(id), bytes: [Buffer.from(JSON.stringify(feed))], ifExists: "error" } as const;
    await this.#open((folder) => saveFile(folder, [], file, { field: "url", hint: TAKEN }));
  }

  /**
   * Moves a subscription, as it was read, to a folder of the trash, with what is known of its content; its path there. Throws
   * ServiceError 412 when it is another one by now.
   */
  async remove(feed: Feed, trashFolder: readonly string[]): Promise<string> {
    const { connection, now } = this.#context;
    const { id } = feed;
    const check = async () => {
      if (!isSameFeed(await this.find(id), feed)) throw refuseChanged();
    };
    const place = { parts: [], field: "feed_id", trashFolder };
    const trashed = await localFolder.trash(connection, { ...place, name: toName(id), check }, now());
    // Where there is none, or it stays: it is only a copy.
    await localFolder.trash(connection, { ...place, name: toEntriesName(id) }, now()).catch(() => undefined);
    return trashed;
  }

  /** Moves a subscription back from there, as it was read. Throws ServiceError 412 when its place is taken, or it is another one. */
  async restore(feed: Feed, trashFolder: readonly string[]): Promise<void> {
    const { id } = feed;
    const check = async () => {
      if (!isSameFeed(await this.find(id, trashFolder), feed)) throw refuseChanged();
    };
    const give = (name: string, checked?: typeof check) =>
      this.#open(
        (from) =>
          this.#open(async (to) => {
            await giveName(from.at(name), to, name, { ifExists: "error", check: checked });
            await to.flush();
            await from.flush();
          }),
        trashFolder,
      );
    await give(toName(id), check).catch((error: unknown) => {
      const isPlace = error instanceof ServiceError && (error.status === 400 || error.status === 404);
      throw isPlace ? refuseChanged() : error;
    });
    await give(toEntriesName(id)).catch(() => undefined);
  }

  /** The subscription of an id, in the folder or in one of its trash; undefined when there is none. */
  async find(id: string, parts: readonly string[] = []): Promise<Feed | undefined> {
    return this.#open((folder) => readFeed(folder, id), parts).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status === 404) return undefined;
      throw error;
    });
  }

  /** What is known of a feed's content; undefined when nothing is. */
  async read({ id }: Feed, parts: readonly string[] = []): Promise<StoredFeed | undefined> {
    return this.#open(async (folder) => storedSchema.safeParse(await readJson(folder, toEntriesName(id))).data, parts);
  }

  /** Keeps the content of a feed. */
  async keep({ id }: Feed, stored: StoredFeed): Promise<void> {
    const bytes = [Buffer.from(JSON.stringify(stored))];
    await this.#open((folder) => writeFileDurably(folder, { name: toEntriesName(id), bytes, ifExists: "replace" }));
  }

  #open<T>(use: (folder: Folder) => Promise<T>, parts: readonly string[] = []): Promise<T> {
    return localFolder.open(this.#context.connection, { parts, field: "folder" }, use);
  }
}

/** True when both are the same subscription, unchanged. */
export function isSameFeed(one: Feed | undefined, other: Feed): boolean {
  return one !== undefined && JSON.stringify(feedSchema.parse(one)) === JSON.stringify(feedSchema.parse(other));
}

/** The name of the file of a subscription. */
export function toName(id: string): string {
  return `${id}.feed.json`;
}

function toEntriesName(id: string): string {
  return `${id}.entries.json`;
}

/** The id of a feed, which is the same in every connection. */
export function toFeedId(url: string): string {
  return sha256Hex(url).slice(0, 12);
}

async function readFeed(folder: Folder, id: string): Promise<Feed | undefined> {
  const feed = fileSchema.safeParse(await readJson(folder, toName(id))).data;
  return feed && { ...feed, id };
}

/** Undefined for a file that is not there, or is none that this service wrote. */
async function readJson(folder: Folder, name: string): Promise<unknown> {
  try {
    return parseJson((await readWholeFile(folder, name, MAX_FILE)).bytes.toString("utf8"));
  } catch (error) {
    if (hasCode(error, "ENOENT") || hasCode(error, "ELOOP") || hasCode(error, "EISDIR")) return undefined;
    throw error;
  }
}
