import { readdir, rm } from "node:fs/promises";
import { z } from "zod";
import { hasCode } from "../../../base/error-code.ts";
import { sha256Hex } from "../../../base/hash.ts";
import { parseJson } from "../../../base/json.ts";
import { type Folder, readWholeFile } from "../../files/folder.ts";
import { writeFileDurably } from "../../files/write-file.ts";
import { refuseMissing, refuseValue } from "../../service-error.ts";
import { localFolder, saveFile } from "../connection-folder.ts";
import type { ActionContext } from "../integration.ts";

/** Most subscriptions of one connection. */
const MAX_FEEDS = 200;
const MAX_FILE = 32 * 1024 * 1024;
const FEED_FILE = /^([0-9a-f]{12})\.feed\.json$/;

const feedSchema = z.object({
  url: z.string(),
  title: z.string(),
  /** ISO 8601. */
  added: z.string(),
});

/** A feed that is subscribed to. */
export type Feed = z.output<typeof feedSchema> & { readonly id: string };

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
        const feed = feedSchema.safeParse(await readJson(folder, `${id}.feed.json`)).data;
        if (feed !== undefined) found.push({ ...feed, id });
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

  /** Throws ServiceError 400 naming `url` for one that is subscribed to, or when there are too many. */
  async add(url: string, title: string): Promise<Feed> {
    const taken = "Take feed_id of an answer of feeds_list_feeds.";
    const known = await this.list();
    if (known.some((feed) => feed.url === url)) throw refuseValue("url", "is subscribed to already.", taken);
    if (known.length >= MAX_FEEDS)
      throw refuseValue("url", `would be more than ${MAX_FEEDS} feeds.`, "Unsubscribe from another one first.");
    const feed = { url, title, added: new Date(this.#context.now()).toISOString() };
    const id = toFeedId(url);
    const file = { name: `${id}.feed.json`, bytes: [Buffer.from(JSON.stringify(feed))], ifExists: "error" } as const;
    await this.#open((folder) => saveFile(folder, [], file, { field: "url", hint: taken }));
    return { ...feed, id };
  }

  /** Moves a subscription to the trash of the folder; its path there. */
  async remove({ id }: Feed): Promise<string> {
    const { connection, now } = this.#context;
    const trashed = await localFolder.trash(
      connection,
      { parts: [], field: "feed_id", name: `${id}.feed.json` },
      now(),
    );
    await this.#open((folder) => rm(folder.at(`${id}.entries.json`), { force: true }));
    return trashed;
  }

  /** What is known of a feed's content; undefined when nothing is. */
  async read({ id }: Feed): Promise<StoredFeed | undefined> {
    return this.#open(async (folder) => storedSchema.safeParse(await readJson(folder, `${id}.entries.json`)).data);
  }

  /** Keeps the content of a feed. */
  async keep({ id }: Feed, stored: StoredFeed): Promise<void> {
    const bytes = [Buffer.from(JSON.stringify(stored))];
    await this.#open((folder) => writeFileDurably(folder, { name: `${id}.entries.json`, bytes, ifExists: "replace" }));
  }

  #open<T>(use: (folder: Folder) => Promise<T>): Promise<T> {
    return localFolder.open(this.#context.connection, { parts: [], field: "folder" }, use);
  }
}

/** The id of a feed, which is the same in every connection. */
export function toFeedId(url: string): string {
  return sha256Hex(url).slice(0, 12);
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
