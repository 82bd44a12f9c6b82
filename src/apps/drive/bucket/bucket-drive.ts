import { createGate } from "../../../../base/concurrency.ts";
import { MAX_FILE_BYTES } from "../../../../wire/constants.ts";
import type { S3Object } from "../../../files/s3-listing.ts";
import { typeByName } from "../../../files/sniff-mimetype.ts";
import { chooseTrashFolder, type IfExists } from "../../../files/write-file.ts";
import { refuseValue, ServiceError } from "../../../service-error.ts";
import type { FolderEntry } from "../../connection-folder.ts";
import type { RemoteCall } from "../../remote-call.ts";
import {
  type Drive,
  type DriveFile,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  isHidden,
  refuseChanged,
  refusePath,
  takeName,
  toText,
} from "../drive.ts";
import type { BucketClient, Condition } from "./bucket-client.ts";

/** Most objects of a folder that is moved or deleted: each is copied. */
const MAX_MOVED = 1000;
const AT_ONCE = 8;
const NO_PATH = "Its name has empty parts or dots, which no path of an action can hold, and it is left out.";

/** An entry that is there: an object, or a folder, which is the beginning of the names of others. */
type Found = { readonly object: S3Object } | "folder" | undefined;

/** The drive that is a bucket, or a part of one. Folders are beginnings of names, with an empty object where one was created. */
export class BucketDrive implements Drive {
  readonly maxHashed = MAX_FILE_BYTES;
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
    if (object.name === this.#toName(to) && ifExists === "replace") return toFile(to.parents, to.name, object);
    let isCopied = false;
    const name = await this.#call.finish(
      `The move of "${toText(from)}"`,
      async () => {
        const taken = await this.#take(to, ifExists, async (key, condition) => {
          isCopied = await this.#client.copy(object, key, condition);
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
    const parents = chooseTrashFolder(path.parents, this.#call.now());
    await this.move(path, { ...path, parents }, "error");
    return toText({ parents, name: path.name });
  }

  async #moveFolder(from: EntryPath, to: EntryPath): Promise<FolderEntry> {
    const [source, target] = [from, to].map(({ parents, name }) => this.#toFolderName([...parents, name]));
    if (source === undefined || target === undefined || target.startsWith(source))
      throw refusePath(source === target ? "EEXIST" : "EINVAL", source === target ? to : from);
    if ((await this.#find(to)) !== undefined) throw refusePath("EEXIST", to);
    const objects = await this.#listAll(source, from);
    let hasActed = false;
    const copy = async (object: S3Object) => {
      const isCopied = await this.#client.copy(object, target + object.name.slice(source.length), "absent");
      hasActed = true;
      if (!isCopied) throw refusePath("EEXIST", to);
    };
    await this.#call.finish(
      `The move of "${toText(from)}"`,
      async () => {
        await forEach(objects, copy);
        // Only now: until everything is there, nothing is taken away.
        await forEach(objects, (object) => this.#removeMoved(object));
      },
      () => hasActed,
    );
    return toFolder(to.parents, to.name);
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
      if (isReplaced && found !== "folder") await this.#keep(one, found.object);
      const isFree = isReplaced || found === undefined;
      const isDone = isFree && (await write(this.#toName(one), isReplaced ? { ifMatch: etag } : "absent"));
      if (isReplaced && !isDone) throw refuseChanged(one);
      return isDone;
    });
  }

  /** Copies an object to the trash before it is replaced. */
  async #keep(path: EntryPath, object: S3Object): Promise<void> {
    const kept = { ...path, parents: chooseTrashFolder(path.parents, this.#call.now()) };
    if (!(await this.#client.copy(object, this.#toName(kept), "absent"))) throw refuseChanged(path);
  }

  async #find(path: Pick<EntryPath, "parents" | "name">): Promise<Found> {
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

/** Names that no path of an action can hold are left out. */
function isNameable(name: string): boolean {
  return name !== "" && name !== "." && name !== "..";
}

function toFolder(parents: readonly string[], name: string): FolderEntry {
  return { path: toText({ parents, name }), name, type: "folder" };
}

async function toFile(parents: readonly string[], name: string, { size, writtenAt }: S3Object): Promise<FolderEntry> {
  const mimetype = (await typeByName(name)) ?? "application/octet-stream";
  const modified = new Date(writtenAt).toISOString();
  return { path: toText({ parents, name }), name, modified, type: "file", size, mimetype };
}

async function forEach(objects: readonly S3Object[], work: (object: S3Object) => Promise<void>): Promise<void> {
  const gate = createGate(AT_ONCE);
  let failed = false;
  const ended = await Promise.allSettled(
    objects.map((object) =>
      gate.run(async () => {
        // After a failure nothing more is begun.
        if (failed) return;
        await work(object).catch((error: unknown) => {
          failed = true;
          throw error;
        });
      }),
    ),
  );
  for (const one of ended) if (one.status === "rejected") throw one.reason;
}
