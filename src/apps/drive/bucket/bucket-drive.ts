import type { S3Object } from "../../../service/files/s3-listing.ts";
import type { IfExists } from "../../../service/files/write-file.ts";
import { refuseValue, ServiceError } from "../../../service/service-error.ts";
import { MAX_FILE_BYTES } from "../../../shared/wire/constants.ts";
import type { FolderEntry } from "../../port/connection-folder.ts";
import type { RemoteCall } from "../../port/remote-call.ts";
import {
  type Drive,
  type DriveFile,
  type DriveThing,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  isHidden,
  isShown,
  refuseChanged,
  refusePath,
  type ThingsInside,
  takeName,
  toText,
  toTrashFolder,
} from "../drive.ts";
import type { BucketClient, Condition } from "./bucket-client.ts";
import { isNameable, toFile, toFolder, toThing } from "./bucket-entries.ts";
import { forEachObject } from "./for-each-object.ts";

/** Most objects of a folder that is moved or deleted: each is copied. */
const MAX_MOVED = 1000;
const NO_PATH = "Its name has empty parts or dots, which no path of an action can hold, and it is left out.";

/** An entry that is there: an object, or a folder, which is the beginning of the names of others. */
type Found = { readonly object: S3Object } | "folder" | undefined;

/** The drive that is a bucket, or a part of one. Folders are beginnings of names, with an empty object where one was created. */
export class BucketDrive implements Drive {
  readonly maxHashed = MAX_FILE_BYTES;
  readonly hasFolders = false;
  readonly #client: BucketClient;
  readonly #call: RemoteCall;
  readonly #prefix: string;

  constructor(client: BucketClient, call: RemoteCall, { prefix }: { readonly prefix: string }) {
    this.#client = client;
    this.#call = call;
    this.#prefix = prefix;
  }

  async *list({ parts, field, notShown }: FolderPath): AsyncGenerator<FolderEntry> {
    const start = this.#toFolderName(parts);
    let isThere = parts.length === 0;
    for await (const { objects, prefixes } of this.#client.list(start, { delimiter: "/" })) {
      isThere ||= objects.length + prefixes.length > 0;
      for (const whole of prefixes) {
        const name = whole.slice(start.length, -1);
        if (isNameable(name)) yield toFolder(parts, name);
        else notShown?.push({ where: whole, why: NO_PATH });
      }
      for (const object of objects) {
        const name = object.name.slice(start.length);
        if (isNameable(name)) yield await toFile(parts, name, object);
        else if (name !== "") notShown?.push({ where: object.name, why: NO_PATH });
      }
    }
    if (!isThere) await this.#refuseFolder({ parts, field });
  }

  async *walk({ parts, field, notShown }: FolderPath): AsyncGenerator<FolderEntry> {
    const start = this.#toFolderName(parts);
    const known = new Set<string>();
    let isThere = parts.length === 0;
    for await (const { objects } of this.#client.list(start)) {
      isThere ||= objects.length > 0;
      for (const object of objects) {
        const below = object.name.slice(start.length).split("/");
        const name = below.pop() ?? "";
        const names = [...below, name || "-"];
        if (!names.every(isNameable)) notShown?.push({ where: object.name, why: NO_PATH });
        if (!names.every((part) => isNameable(part) && !isHidden(part))) continue;
        for (const [index, folder] of below.entries()) {
          const parents = [...parts, ...below.slice(0, index)];
          const entry = toFolder(parents, folder);
          if (!known.has(entry.path)) yield entry;
          known.add(entry.path);
        }
        if (name !== "") yield await toFile([...parts, ...below], name, object);
      }
    }
    if (!isThere) await this.#refuseFolder({ parts, field });
  }

  async look(path: EntryPath): Promise<DriveThing | undefined> {
    await this.#checkParents(path);
    const found = await this.#find(path);
    if (found === "folder") return { entry: toFolder(path.parents, path.name) };
    return found && { entry: await toFile(path.parents, path.name, found.object), etag: found.object.etag };
  }

  async lookInside(path: EntryPath): Promise<ThingsInside> {
    const objects = await this.#listAll(this.#toFolderName([...path.parents, path.name]), path);
    return { things: await Promise.all(objects.map((object) => toThing(object, this.#prefix))), isWhole: true };
  }

  #toObject({ entry: { path, size = 0, modified = "" }, etag }: DriveThing): S3Object {
    return { name: this.#prefix + path, size, writtenAt: Date.parse(modified), etag };
  }

  async read<T>(path: EntryPath, use: (file: DriveFile) => Promise<T>): Promise<T> {
    const found = await this.#find(path);
    if (found === undefined) throw refusePath("ENOENT", path);
    if (found === "folder") throw refusePath("EISDIR", path);
    const { object } = found;
    const entry = { ...(await toFile(path.parents, path.name, object)), size: object.size };
    return use({ entry, read: (from, length) => this.#client.read(object, from, length) });
  }

  async save(path: EntryPath, { held, ifExists }: DriveUpload): Promise<FolderEntry & { sha256: string }> {
    await this.#checkParents(path);
    const name = await this.#take(path, ifExists, (key, condition) => this.#client.put(key, condition, held));
    const { size, sha256 } = held;
    const object = { name, size, writtenAt: this.#call.now(), etag: undefined };
    return { ...(await toFile(path.parents, name, object)), sha256 };
  }

  async createFolder(path: EntryPath): Promise<FolderEntry & { created: boolean }> {
    await this.#checkParents(path);
    const found = await this.#find(path);
    if (typeof found === "object") throw refusePath("EEXIST", path);
    let created = false;
    const parts = [...path.parents, path.name];
    for (let depth = 1; depth <= parts.length && found === undefined; depth += 1) {
      const [parents, name] = [parts.slice(0, depth - 1), parts[depth - 1] ?? ""];
      if (depth < parts.length && (await this.#find({ parents, name })) !== undefined) continue;
      created = await this.#client.put(this.#toFolderName(parts.slice(0, depth)), "absent");
    }
    return { ...toFolder(path.parents, path.name), created };
  }

  async move(from: EntryPath, to: EntryPath, ifExists: IfExists): Promise<FolderEntry> {
    const found = await this.#find(from);
    if (found === undefined) throw refusePath("ENOENT", from);
    await this.#checkParents(to);
    if (found === "folder") return this.#moveFolder(from, to);
    const { object } = found;
    if (from.expected && !(await this.#isStill(object))) throw refuseChanged(from);
    if (object.name === this.#toName(to) && ifExists === "replace") return toFile(to.parents, to.name, object);
    let isCopied = false;
    const name = await this.#call.finish(
      `The move of "${toText(from)}"`,
      async () => {
        const taken = await this.#take(to, ifExists, async (key, condition) => {
          isCopied = await this.#client.copy(object, key, condition);
          if (!isCopied && from.expected) throw refuseChanged(from);
          return isCopied;
        });
        await this.#removeMoved(object);
        return taken;
      },
      () => isCopied,
    );
    return toFile(to.parents, name, object);
  }

  async trash(path: EntryPath): Promise<string> {
    const parents = toTrashFolder(path, this.#call.now());
    await this.move(path, { ...path, parents, expected: undefined }, "error");
    return toText({ parents, name: path.name });
  }

  async canKeep(): Promise<boolean> {
    return true;
  }

  /** Only the object that stands for it: what came into the folder at this moment stays. */
  async removeEmpty({ parents, name }: EntryPath): Promise<boolean> {
    const folder = this.#toFolderName([...parents, name]);
    for await (const { objects } of this.#client.list(folder, { limit: 2 })) {
      const [object] = objects;
      return objects.length === 1 && object?.name === folder && (await this.#client.remove(object));
    }
    return false;
  }

  async #moveFolder(from: EntryPath, to: EntryPath): Promise<FolderEntry> {
    const [source, target] = [from, to].map(({ parents, name }) => this.#toFolderName([...parents, name]));
    if (source === undefined || target === undefined || target.startsWith(source))
      throw refusePath(source === target ? "EEXIST" : "EINVAL", source === target ? to : from);
    if ((await this.#find(to)) !== undefined) throw isShown(to) ? refuseChanged(to) : refusePath("EEXIST", to);
    const shown = from.expected?.inside?.things.map((thing) => this.#toObject(thing));
    const objects = shown ?? (await this.#listAll(source, from));
    let hasActed = false;
    const copy = async (object: S3Object) => {
      const isCopied = await this.#client.copy(object, target + object.name.slice(source.length), "absent");
      hasActed ||= isCopied;
      if (!isCopied) throw shown === undefined ? refusePath("EEXIST", to) : refuseChanged(from);
    };
    await this.#call.finish(
      `The move of "${toText(from)}"`,
      async () => {
        await forEachObject(objects, copy);
        // Only now: until everything is there, nothing is taken away.
        await forEachObject(objects, (object) => this.#removeMoved(object));
      },
      () => hasActed,
    );
    return toFolder(to.parents, to.name);
  }

  /** Looks again: not every store compares versions when it copies. */
  async #isStill({ name, etag }: S3Object): Promise<boolean> {
    return (await this.#client.find(name))?.etag === etag;
  }

  async #listAll(prefix: string, path: EntryPath): Promise<S3Object[]> {
    const all: S3Object[] = [];
    for await (const { objects } of this.#client.list(prefix)) {
      all.push(...objects);
      if (all.length > MAX_MOVED)
        throw refuseValue(
          path.field,
          `is a folder of more than ${MAX_MOVED} files.`,
          "Move or delete its folders one by one.",
        );
    }
    return all;
  }

  async #removeMoved(object: S3Object): Promise<void> {
    // Not every store compares versions when it removes.
    const now = await this.#client.find(object.name);
    const isSame = now === undefined || now.etag === object.etag;
    if (isSame && (await this.#client.remove(object))) return;
    const message = `"${object.name.slice(this.#prefix.length)}" was changed while it was copied, and stays.`;
    throw new ServiceError(409, "conflict", message, { type: "provider", hint: "Read its present state first." });
  }

  /** Lets `write` take the name of `path`, or the one that `ifExists` leads to; returns that name. */
  #take(
    path: EntryPath,
    ifExists: IfExists,
    write: (key: string, condition: Condition) => Promise<boolean>,
  ): Promise<string> {
    return takeName(path, ifExists === "rename", async (name) => {
      const one = { ...path, name };
      const found = await this.#find(one);
      const isReplaced = ifExists === "replace" && found !== undefined;
      if (isReplaced && found === "folder") throw refusePath("EISDIR", one);
      const etag = typeof found === "object" ? (found.object.etag ?? "*") : "*";
      if (isReplaced && found !== "folder") {
        await this.#keep(one, found.object);
        if (one.expected && !(await this.#isStill(found.object))) throw refuseChanged(one);
      }
      const isFree = isReplaced || found === undefined;
      const isDone = isFree && (await write(this.#toName(one), isReplaced ? { ifMatch: etag } : "absent"));
      if (isReplaced && !isDone) throw refuseChanged(one);
      return isDone;
    });
  }

  /** Copies an object to the trash before it is replaced. */
  async #keep(path: EntryPath, object: S3Object): Promise<void> {
    if (path.trashFolder === null) return;
    const kept = { ...path, parents: toTrashFolder(path, this.#call.now()) };
    if (!(await this.#client.copy(object, this.#toName(kept), "absent"))) throw refuseChanged(path);
  }

  /** What was shown there, where it was. A place that was free is looked at again: not every store copies only to a free name. */
  async #find(path: Pick<EntryPath, "parents" | "name" | "expected">): Promise<Found> {
    const { expected } = path;
    if (expected) return expected.entry.type === "folder" ? "folder" : { object: this.#toObject(expected) };
    const object = await this.#client.find(this.#toName(path));
    if (object !== undefined) return { object };
    const below = this.#client.list(this.#toFolderName([...path.parents, path.name]), { limit: 1 });
    for await (const { objects } of below) return objects.length > 0 ? "folder" : undefined;
    return undefined;
  }

  /** A file in the place of a folder is refused, as on a disk. */
  async #checkParents({ parents, field, parentsField = field }: EntryPath): Promise<void> {
    const paths = parents.map((name, index) => ({ parents: parents.slice(0, index), name, field: parentsField }));
    const found = await Promise.all(paths.map((path) => this.#client.find(this.#toName(path))));
    const file = paths[found.findIndex((one) => one !== undefined)];
    if (file !== undefined) throw refusePath("ENOTDIR", file);
  }

  async #refuseFolder({ parts, field }: FolderPath): Promise<never> {
    const path = { parents: parts.slice(0, -1), name: parts.at(-1) ?? "", field };
    const file = await this.#client.find(this.#toName(path));
    throw refusePath(file === undefined ? "ENOENT" : "ENOTDIR", path);
  }

  #toName({ parents, name }: Pick<EntryPath, "parents" | "name">): string {
    return this.#prefix + [...parents, name].join("/");
  }

  #toFolderName(parts: readonly string[]): string {
    return this.#prefix + parts.map((part) => `${part}/`).join("");
  }
}
