import { readdir } from "node:fs/promises";
import { createGate } from "../../../base/concurrency.ts";
import { hasCode } from "../../../base/error-code.ts";
import { sha256Hex } from "../../../base/hash.ts";
import { losesLines } from "../../../base/text.ts";
import { type Folder, parseEntryPath, readWholeFile } from "../../files/folder.ts";
import { writeFileDurably } from "../../files/write-file.ts";
import { afterChange, refuseMissing, ServiceError } from "../../service-error.ts";
import { localFolder } from "../connection-folder.ts";
import type { ActionContext } from "../integration.ts";
import type { NotShown } from "../not-shown.ts";
import {
  type Collection,
  type CollectionKind,
  type CollectionStore,
  type FoundItems,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  MAX_READ_BYTES,
  refuseConflict,
  type StoredItem,
  TOO_MANY,
  toFileStem,
} from "./collection-store.ts";

/** Two changes of one item must not overwrite each other. */
const updates = createGate(1);

/** Id of the collection that lies in the folder itself. */
const TOP = ".";
const MAX_NAME = 200;
/** Lines that every change writes anew. */
const STAMPS = /^(?:DTSTAMP|LAST-MODIFIED|SEQUENCE|REV|PRODID)[:;]/i;
const FILES_AT_ONCE = 16;

/**
 * Collections that are folders of this machine, with one file an item: the layout of vdirsyncer, khal and khard. Each folder
 * in the connection's folder is a collection, and files directly in it are one more.
 */
export class FolderStore implements CollectionStore {
  readonly #context: ActionContext;
  readonly #kind: CollectionKind;

  constructor(context: ActionContext, kind: CollectionKind) {
    this.#context = context;
    this.#kind = kind;
  }

  async list(): Promise<readonly Collection[]> {
    const entries = await this.#look([], (folder) => readdir(folder.self, { withFileTypes: true }));
    const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
    const named = await Promise.all(
      folders.map(async ({ name }) => ({ id: name, name: (await this.#readName(name)) ?? name })),
    );
    named.sort((a, b) => (a.id < b.id ? -1 : 1));
    const hasFiles = entries.some((entry) => entry.isFile() && this.#isItem(entry.name));
    const all = hasFiles ? [{ id: TOP, name: "Files at the top" }, ...named] : named;
    return all.length === 0 ? [this.#kind.first] : all;
  }

  async read(collections: readonly Collection[]): Promise<FoundItems> {
    const items: StoredItem[] = [];
    const left: NotShown[] = [];
    let size = 0;
    for (const collection of collections) {
      const names = await this.#listNames(collection);
      if (names.length === 0) continue;
      await this.#look(toParts(collection), async (folder) => {
        for (let at = 0; at < names.length; at += FILES_AT_ONCE) {
          this.#context.signal.throwIfAborted();
          const batch = names.slice(at, at + FILES_AT_ONCE);
          const isFull = items.length + batch.length > MAX_ITEMS || size > MAX_READ_BYTES;
          if (isFull) {
            left.push({ where: collection.id, why: TOO_MANY });
            break;
          }
          const read = batch.map((name) =>
            readItem(folder, collection, name).catch((error: unknown) => {
              left.push({ where: toItemId(collection, name), why: sayWhy(error) });
            }),
          );
          const found = (await Promise.all(read)).filter((item) => item !== undefined);
          size += found.reduce((sum, { bytes }) => sum + bytes.length, 0);
          items.push(...found);
        }
      });
    }
    return { items, left };
  }

  async find(id: string, field: string): Promise<StoredItem> {
    const { parents, name } = parseEntryPath(id, field);
    const collection = (await this.list()).find((one) => one.id === (parents.join("/") || TOP));
    if (collection === undefined || !this.#isItem(name))
      throw refuseMissing(`There is nothing with the id "${id}".`, "Look it up again.");
    return this.#readItem(collection, name, field);
  }

  async create(collection: Collection, { name, bytes }: { name: string; bytes: Buffer }): Promise<StoredItem> {
    const file = `${toFileStem(name)}${this.#kind.ending}`;
    const save = (folder: Folder) =>
      writeFileDurably(folder, { name: file, bytes: [bytes], ifExists: "error" }).catch((error: unknown) => {
        throw hasCode(error, "EEXIST") ? refuseConflict(`"${collection.id}/${file}"`) : error;
      });
    await this.#look(toParts(collection), save, { create: true });
    return this.#readBack(collection, file);
  }

  replace(item: StoredItem, bytes: Buffer): Promise<StoredItem> {
    const { collection } = item;
    const { name } = parseEntryPath(item.id, "event_id");
    return updates.run(async () => {
      await this.#checkUnchanged(item, name);
      const entry = { parts: toParts(collection), field: "folder", name };
      const { connection, now } = this.#context;
      const isLost = losesLines(item.bytes.toString("latin1"), bytes.toString("latin1"), STAMPS);
      const keep = isLost ? () => localFolder.keep(connection, entry, now()) : undefined;
      const file = { name, bytes: [bytes], ifExists: "replace", keep } as const;
      await this.#look(toParts(collection), (folder) => writeFileDurably(folder, file));
      return this.#readBack(collection, name);
    }, this.#context.signal);
  }

  remove(item: StoredItem): Promise<string> {
    const { parents, name } = parseEntryPath(item.id, "event_id");
    const { connection, signal, now } = this.#context;
    return updates.run(async () => {
      await this.#checkUnchanged(item, name);
      return localFolder.trash(connection, { parts: parents, field: "folder", name }, now());
    }, signal);
  }

  async listOwnAddresses(): Promise<readonly string[]> {
    return [];
  }

  async #checkUnchanged(item: StoredItem, name: string): Promise<void> {
    const present = await this.#readItem(item.collection, name);
    if (present.etag !== item.etag) throw refuseConflict(`"${item.id}"`);
  }

  #isItem(name: string): boolean {
    return !name.startsWith(".") && name.toLowerCase().endsWith(this.#kind.ending);
  }

  #look<T>(
    parts: readonly string[],
    use: (folder: Folder) => Promise<T>,
    o: { readonly create?: boolean; readonly name?: string; readonly field?: string } = {},
  ): Promise<T> {
    const { field = "folder", ...more } = o;
    return localFolder.open(this.#context.connection, { parts, field, ...more }, use);
  }

  async #listNames(collection: Collection): Promise<string[]> {
    const list = (folder: Folder) => readdir(folder.self, { withFileTypes: true });
    const entries = await this.#look(toParts(collection), list).catch((error: unknown) => {
      // The first collection is made with its first item.
      if (error instanceof ServiceError && error.status === 404) return [];
      throw error;
    });
    return entries
      .filter((entry) => entry.isFile() && this.#isItem(entry.name))
      .map(({ name }) => name)
      .sort();
  }

  #readItem(collection: Collection, name: string, field = "folder"): Promise<StoredItem> {
    return this.#look(toParts(collection), (folder) => readItem(folder, collection, name), { name, field });
  }

  #readBack(collection: Collection, name: string): Promise<StoredItem> {
    return afterChange(`"${toItemId(collection, name)}"`, () => this.#readItem(collection, name));
  }

  /** The file `displayname` of the vdir layout. */
  async #readName(name: string): Promise<string | undefined> {
    const read = (folder: Folder) => readWholeFile(folder, "displayname", MAX_NAME * 4);
    const { bytes } = await this.#look([name], read).catch(() => ({ bytes: Buffer.alloc(0) }));
    return bytes.toString("utf8").replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME) || undefined;
  }
}

async function readItem(folder: Folder, collection: Collection, name: string): Promise<StoredItem> {
  const { bytes } = await readWholeFile(folder, name, MAX_ITEM_BYTES);
  return { id: toItemId(collection, name), collection, etag: sha256Hex(bytes), bytes };
}

function toItemId(collection: Collection, name: string): string {
  return [...toParts(collection), name].join("/");
}

function sayWhy(error: unknown): string {
  if (hasCode(error, "EFBIG")) return `The file is larger than ${MAX_ITEM_BYTES / 1024 / 1024} MB.`;
  return "The file cannot be opened.";
}

function toParts({ id }: Collection): readonly string[] {
  return id === TOP ? [] : [id];
}
