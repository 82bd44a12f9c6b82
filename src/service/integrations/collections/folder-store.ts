import { isUtf8 } from "node:buffer";
import { readdir } from "node:fs/promises";
import { createGate } from "../../../base/concurrency.ts";
import { hasCode } from "../../../base/disk.ts";
import { sha256Hex } from "../../../base/hash.ts";
import { type Folder, parseEntryPath, readWholeFile } from "../../files/folder.ts";
import { writeFileDurably } from "../../files/write-file.ts";
import { refuseMissing, ServiceError } from "../../service-error.ts";
import { localFolder } from "../connection-folder.ts";
import type { ActionContext } from "../integration.ts";
import {
  type Collection,
  type CollectionKind,
  type CollectionStore,
  type FoundItems,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  MAX_READ_BYTES,
  refuseConflict,
  refuseUnreadable,
  type StoredItem,
  toFileStem,
} from "./collection-store.ts";

/** Two changes of one item must not overwrite each other. */
const updates = createGate(1);

/** Id of the collection that lies in the folder itself. */
const TOP = ".";
const MAX_NAME = 200;

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
    let [left, size] = [0, 0];
    for (const collection of collections) {
      const names = await this.#listNames(collection);
      for (const name of names) {
        this.#context.signal.throwIfAborted();
        const isFull = items.length >= MAX_ITEMS || size > MAX_READ_BYTES;
        const item = isFull ? undefined : await this.#readItem(collection, name).catch(() => undefined);
        size += item?.text.length ?? 0;
        if (item === undefined) left += 1;
        else items.push(item);
      }
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

  async create(collection: Collection, { name, text }: { name: string; text: string }): Promise<StoredItem> {
    const file = `${toFileStem(name)}${this.#kind.ending}`;
    const save = (folder: Folder) =>
      this.#write(folder, file, text).catch((error: unknown) => {
        throw hasCode(error, "EEXIST") ? refuseConflict(`"${collection.id}/${file}"`) : error;
      });
    await this.#look(toParts(collection), save, { create: true });
    return this.#readItem(collection, file);
  }

  replace(item: StoredItem, text: string): Promise<StoredItem> {
    const { collection } = item;
    const { name } = parseEntryPath(item.id, "event_id");
    return updates.run(async () => {
      await this.#checkUnchanged(item, name);
      await this.#look(toParts(collection), (folder) => this.#write(folder, name, text, "replace"));
      return this.#readItem(collection, name);
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

  async #readItem(collection: Collection, name: string, field = "folder"): Promise<StoredItem> {
    const parts = toParts(collection);
    const read = (folder: Folder) => readWholeFile(folder, name, MAX_ITEM_BYTES);
    const { bytes } = await this.#look(parts, read, { name, field });
    const id = [...parts, name].join("/");
    if (!isUtf8(bytes)) throw refuseUnreadable(id);
    return { id, collection, etag: sha256Hex(bytes), text: bytes.toString("utf8") };
  }

  async #write(folder: Folder, name: string, text: string, ifExists: "error" | "replace" = "error"): Promise<void> {
    await writeFileDurably(folder, { name, bytes: [Buffer.from(text)], ifExists });
  }

  /** The file `displayname` of the vdir layout. */
  async #readName(name: string): Promise<string | undefined> {
    const read = (folder: Folder) => readWholeFile(folder, "displayname", MAX_NAME * 4);
    const { bytes } = await this.#look([name], read).catch(() => ({ bytes: Buffer.alloc(0) }));
    return bytes.toString("utf8").replaceAll(/\s+/g, " ").trim().slice(0, MAX_NAME) || undefined;
  }
}

function toParts({ id }: Collection): readonly string[] {
  return id === TOP ? [] : [id];
}
