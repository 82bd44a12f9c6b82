import { readdir } from "node:fs/promises";
import { type Folder, parseEntryPath, readWholeFile, removeEmptyFolders } from "../../service/files/folder.ts";
import { chooseTrashFolder, giveName, writeFileDurably } from "../../service/files/write-file.ts";
import { afterChange, refuseMissing, ServiceError } from "../../service/service-error.ts";
import { createGate } from "../../shared/base/concurrency.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { losesLines } from "../../shared/base/text.ts";
import { localFolder } from "../port/connection-folder.ts";
import type { ActionContext } from "../port/integration.ts";
import type { NotShown } from "../port/not-shown.ts";
import {
  type Collection,
  type CollectionKind,
  type CollectionStore,
  type FoundItems,
  type LeftOver,
  MAX_ITEM_BYTES,
  MAX_ITEMS,
  MAX_READ_BYTES,
  type NewItem,
  refuseConflict,
  type StoredItem,
  TOO_MANY,
  TOP,
  toFileStem,
  type WrittenItem,
} from "./collection-store.ts";

/** Two changes of one item must not overwrite each other. */
const updates = createGate(1);

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

  nameNew(collection: Collection, name: string): string {
    return toItemId(collection, `${toFileStem(name)}${this.#kind.ending}`);
  }

  async create({ id, collection, bytes }: NewItem, trashedTo?: string): Promise<WrittenItem> {
    const { name } = parseEntryPath(id, "folder");
    const refuseTaken = (error: unknown) => {
      throw hasCode(error, "EEXIST") ? refuseConflict(`"${id}"`) : error;
    };
    const save = async (folder: Folder) => {
      if (trashedTo !== undefined) await this.#moveBack(trashedTo, { folder, name, bytes, refuseTaken });
      else await writeFileDurably(folder, { name, bytes: [bytes], ifExists: "error" }).catch(refuseTaken);
    };
    await this.#look(toParts(collection), save, { create: true });
    return this.#readBack(collection, name, bytes);
  }

  replace(item: StoredItem, bytes: Buffer): Promise<WrittenItem> {
    const { collection } = item;
    const { name } = parseEntryPath(item.id, "event_id");
    return updates.run(async () => {
      const entry = { parts: toParts(collection), field: "folder", name };
      const { connection, now } = this.#context;
      const keep = isLost(item, bytes) ? () => localFolder.keep(connection, entry, now()) : undefined;
      const check = () => this.#checkUnchanged(item, name);
      const file = { name, bytes: [bytes], ifExists: "replace", keep, check } as const;
      await this.#look(toParts(collection), (folder) => writeFileDurably(folder, file));
      return this.#readBack(collection, name, bytes);
    }, this.#context.signal);
  }

  chooseTrash({ id }: StoredItem): string {
    const { parents, name } = parseEntryPath(id, "event_id");
    return [...chooseTrashFolder(parents, this.#context.now()), name].join("/");
  }

  async remove(item: StoredItem, trashedTo = this.chooseTrash(item)): Promise<void> {
    const { parents, name } = parseEntryPath(item.id, "event_id");
    const { parents: trashFolder } = parseEntryPath(trashedTo, "folder");
    const { connection, signal, now } = this.#context;
    await updates.run(async () => {
      const check = () => this.#checkUnchanged(item, name);
      // Before the trash gets a folder, too.
      await check();
      await localFolder.trash(connection, { parts: parents, field: "folder", name, trashFolder, check }, now());
    }, signal);
  }

  async isTrashed({ etag }: StoredItem, trashedTo: string): Promise<boolean> {
    const { parents, name } = parseEntryPath(trashedTo, "folder");
    const read = (folder: Folder) => readWholeFile(folder, name, MAX_ITEM_BYTES);
    const found = await this.#look(parents, read, { name }).catch((error: unknown) => {
      if (error instanceof ServiceError && error.status < 500) return undefined;
      throw error;
    });
    return found !== undefined && sha256Hex(found.bytes) === etag;
  }

  isSame(present: Buffer, written: Buffer): boolean {
    return present.equals(written);
  }

  async listOwnAddresses(): Promise<readonly string[]> {
    return [];
  }

  sayLeft(item: StoredItem, bytes: Buffer | undefined): LeftOver {
    const kept = "a human can bring it back.";
    if (bytes === undefined) return { isKept: true, isFinal: false, left: `It goes to .trash; ${kept}` };
    if (isLost(item, bytes))
      return { isKept: true, isFinal: false, left: `The file as it is now is kept in .trash; ${kept}` };
    return { isKept: false, isFinal: false, left: "Nothing is lost: a human can take out again what is added." };
  }

  async tellsPeople(): Promise<false> {
    return false;
  }

  /** Gives a file of the trash, which has to hold these bytes, its place; its folders there go with it. */
  async #moveBack(
    trashedTo: string,
    o: {
      readonly folder: Folder;
      readonly name: string;
      readonly bytes: Buffer;
      readonly refuseTaken: (error: unknown) => never;
    },
  ): Promise<void> {
    const { folder, name, bytes, refuseTaken } = o;
    const { parents, name: trashed } = parseEntryPath(trashedTo, "folder");
    await this.#look(parents, async (from) => {
      const check = async () => {
        const present = await readWholeFile(from, trashed, MAX_ITEM_BYTES);
        if (!present.bytes.equals(bytes)) throw refuseConflict(`"${trashedTo}"`);
      };
      await giveName(from.at(trashed), folder, name, { ifExists: "error", check }).catch(refuseTaken);
      await folder.flush();
      await from.flush();
    });
    const root = localFolder.read(this.#context.connection.settings);
    await removeEmptyFolders({ root, setting: "folder", parts: parents }, 1);
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

  async #readBack(collection: Collection, name: string, bytes: Buffer): Promise<WrittenItem> {
    const read = () => this.#readItem(collection, name);
    const item = await afterChange(`"${toItemId(collection, name)}"`, read);
    return { ...item, isOurs: item.bytes.equals(bytes) };
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

/** Whether lines are gone with this change that nobody finds in the new file. */
function isLost(item: StoredItem, bytes: Buffer): boolean {
  return losesLines(item.bytes.toString("latin1"), bytes.toString("latin1"), STAMPS);
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
