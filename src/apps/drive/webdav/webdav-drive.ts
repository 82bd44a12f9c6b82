import { randomBytes } from "node:crypto";
import { UNFINISHED_PREFIX } from "../../../service/files/folder.ts";
import { typeByName } from "../../../service/files/sniff-mimetype.ts";
import type { IfExists } from "../../../service/files/write-file.ts";
import { ServiceError } from "../../../service/service-error.ts";
import { MAX_FILE_BYTES } from "../../../shared/wire/constants.ts";
import type { FolderEntry } from "../../port/connection-folder.ts";
import type { NotShown } from "../../port/not-shown.ts";
import type { RemoteCall } from "../../port/remote-call.ts";
import {
  type Drive,
  type DriveFile,
  type DriveThing,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  listInside,
  refuseChanged,
  refusePath,
  refuseTaken,
  seeThing,
  type ThingsInside,
  takeName,
  toText,
  toTrashFolder,
  walkFolders,
} from "../drive.ts";
import type { DavResource, Overwrite, WebdavClient } from "./webdav-client.ts";

/** The drive that is a folder of a WebDAV server. */
export class WebdavDrive implements Drive {
  readonly maxHashed = MAX_FILE_BYTES;
  readonly hasFolders = true;
  readonly #client: WebdavClient;
  readonly #call: RemoteCall;

  constructor(client: WebdavClient, call: RemoteCall) {
    this.#client = client;
    this.#call = call;
  }

  async *list({ parts, field, notShown }: FolderPath): AsyncGenerator<FolderEntry> {
    const found = await this.#client.list(parts, notShown);
    const path = { parents: parts.slice(0, -1), name: parts.at(-1) ?? "", field };
    if (found === undefined) throw refusePath("ENOENT", path);
    if (!found.folder.isFolder) throw refusePath("ENOTDIR", path);
    for (const entry of found.entries) yield await toEntry(entry);
  }

  walk(folder: FolderPath): AsyncIterable<FolderEntry> {
    return walkFolders({ list: (one) => this.list(one) }, folder);
  }

  async look(path: EntryPath): Promise<DriveThing | undefined> {
    const found = await this.#client.find([...path.parents, path.name]);
    return found && toThing(found);
  }

  lookInside({ parents, name }: EntryPath): Promise<ThingsInside> {
    const list = async (parts: readonly string[]) => {
      const found = await this.#client.list(parts);
      return Promise.all((found?.entries ?? []).map(toThing));
    };
    return listInside(list, [...parents, name]);
  }

  async read<T>(path: EntryPath, use: (file: DriveFile) => Promise<T>): Promise<T> {
    const found = await this.#findOrRefuse(path);
    if (found.isFolder) throw refusePath("EISDIR", path);
    const entry = { ...(await toEntry(found)), size: found.size };
    return use({ entry, read: (from, length) => this.#client.read(found, from, length) });
  }

  async save(path: EntryPath, { held, ifExists }: DriveUpload): Promise<FolderEntry & { sha256: string }> {
    const target = [...path.parents, path.name];
    const taken = await this.#find(path);
    if (taken !== undefined && ifExists === "error") throw refuseTaken(path);
    const { sha256, size } = held;
    const facts = { isFolder: false, size, modified: new Date(this.#call.now()).toISOString(), etag: undefined };
    const replaced = ifExists === "replace" ? taken : undefined;
    if (replaced?.isFolder) throw refusePath("EISDIR", path);
    if (replaced !== undefined && isStrong(replaced.etag)) {
      await this.#keep(replaced, path);
      // The server compares the versions itself, and keeps what else it knows of the file, such as who it is shared with.
      if (!(await this.#client.put(target, held, replaced.etag))) throw refuseChanged(path);
      return { ...(await toEntry({ ...facts, parts: target })), sha256 };
    }
    await this.#makeFolders(path);
    // Under a name of its own first: a file is seen whole or not at all, and a move never replaces unless it is told to.
    const unfinished = { ...facts, parts: [...path.parents, `${UNFINISHED_PREFIX}${randomBytes(8).toString("hex")}`] };
    try {
      await this.#client.put(unfinished.parts, held);
      let { name } = path;
      if (replaced === undefined) name = await this.#moveToName(unfinished, path, ifExists === "rename");
      else await this.#moveOver(unfinished, replaced, path);
      return { ...(await toEntry({ ...facts, parts: [...path.parents, name] })), sha256 };
    } catch (error) {
      // After a lost answer it is gone, or has its name already: then this finds nothing.
      await this.#client.discard(unfinished.parts);
      throw error;
    }
  }

  async createFolder(path: EntryPath): Promise<FolderEntry & { created: boolean }> {
    const parts = [...path.parents, path.name];
    const found = await this.#client.find(parts);
    if (found !== undefined && !found.isFolder) throw refusePath("EEXIST", path);
    if (found === undefined) await this.#makeFolders(path);
    const created = found === undefined && (await this.#client.makeFolder(parts));
    const made = {
      parts,
      isFolder: true,
      size: 0,
      modified: new Date(this.#call.now()).toISOString(),
      etag: undefined,
    };
    return { ...(await toEntry(found ?? made)), created };
  }

  async move(from: EntryPath, to: EntryPath, ifExists: IfExists): Promise<FolderEntry> {
    const source = await this.#findOrRefuse(from);
    const target = [...to.parents, to.name];
    const isItself = source.parts.join("/") === target.join("/");
    const isInside = source.parts.length < target.length && source.parts.every((part, index) => target[index] === part);
    if (source.isFolder && isInside) throw refusePath("EINVAL", from);
    if (isItself && ifExists === "replace" && !source.isFolder) return toEntry(source);
    const taken = await this.#find(to);
    const isReplaced = taken !== undefined && ifExists === "replace" && !source.isFolder;
    if (isReplaced && taken.isFolder) throw refusePath("EISDIR", to);
    if (taken !== undefined && (ifExists !== "rename" || source.isFolder) && !isReplaced) throw refuseTaken(to);
    if (isReplaced) {
      await this.#moveOver(source, taken, to, from);
      return toEntry({ ...source, parts: target });
    }
    await this.#makeFolders(to);
    const name = await this.#moveToName(source, to, ifExists === "rename" && !source.isFolder, from);
    return toEntry({ ...source, parts: [...to.parents, name] });
  }

  async trash(path: EntryPath): Promise<string> {
    const source = await this.#findOrRefuse(path);
    const to = { ...path, parents: toTrashFolder(path, this.#call.now()), expected: undefined };
    await this.#makeFolders(to);
    await this.#moveToName(source, to, false, path);
    return toText(to);
  }

  canKeep({ parents, name }: EntryPath): Promise<boolean> {
    return this.#client.canCopy([...parents, name]);
  }

  /** By way of the trash: a server removes a folder with all that is in it. */
  async removeEmpty(path: EntryPath): Promise<boolean> {
    const parts = [...path.parents, path.name];
    const to = { ...path, parents: toTrashFolder(path, this.#call.now()) };
    const target = [...to.parents, to.name];
    const found = await this.#listEmpty(parts);
    if (found === undefined) return false;
    await this.#makeFolders(to);
    if (!(await this.#client.move(found, target, "never"))) return false;
    if ((await this.#listEmpty(target)) !== undefined) return true;
    // Somebody put something into it at this moment.
    const isBack = await this.#client.move({ ...found, parts: target }, parts, "never");
    if (isBack) return false;
    const message = `"${parts.join("/")}" was moved to "${target.join("/")}", and what came into it at this moment is there, too.`;
    const hint = "Move it back.";
    throw new ServiceError(500, "outcome_unknown", message, { type: "provider", hint });
  }

  /** The folder; undefined when there is none, or something is in it. */
  async #listEmpty(parts: readonly string[]): Promise<DavResource | undefined> {
    const notShown: NotShown[] = [];
    const found = await this.#client.list(parts, notShown);
    const isEmpty = found?.folder.isFolder && found.entries.length === 0 && notShown.length === 0;
    return isEmpty ? found.folder : undefined;
  }

  /** Copies a file to the trash before it is replaced. */
  async #keep(taken: DavResource, path: EntryPath): Promise<void> {
    if (path.trashFolder === null) return;
    const kept = { ...path, parents: toTrashFolder(path, this.#call.now()) };
    await this.#makeFolders(kept);
    await this.#client.copy(taken, [...kept.parents, path.name]);
  }

  /** Moves over a file as it was found, as far as the server can check that. */
  async #moveOver(source: DavResource, taken: DavResource, to: EntryPath, from?: EntryPath): Promise<void> {
    await this.#keep(taken, to);
    const { etag, modified, size } = taken;
    const move = (overwrite: Overwrite) => this.#move(source, taken.parts, overwrite, from);
    if (etag !== undefined && (await move({ etag }))) return;
    const now = await this.#client.find(taken.parts);
    // Not every server understands versions in the header If: then the file is still what it was.
    const isSame = now?.etag === etag && now?.modified === modified && now?.size === size;
    if (!isSame || !(await move({ etag: undefined }))) throw refuseChanged(to);
  }

  /** Gives a file or folder the name of `path`, or a numbered one; returns the name. */
  #moveToName(source: DavResource, path: EntryPath, mayRename: boolean, from?: EntryPath): Promise<string> {
    return takeName(path, mayRename, (name) => this.#move(source, [...path.parents, name], "never", from));
  }

  /** Moves what was shown at `from` only as it was shown, as far as the server can check that. */
  async #move(source: DavResource, to: readonly string[], overwrite: Overwrite, from?: EntryPath): Promise<boolean> {
    if (!from?.expected || source.isFolder) return this.#client.move(source, to, overwrite);
    if (isStrong(source.etag) && (await this.#client.move(source, to, overwrite, true))) return true;
    const now = await this.#client.find(source.parts);
    if (now === undefined || !isSame(await toThing(now), from.expected)) throw refuseChanged(from);
    // Not every server compares the version of what is moved as others do, or has one from the first moment on.
    return this.#client.move(source, to, overwrite);
  }

  /** Makes the folders that an entry is to be in, as far as they are missing. */
  async #makeFolders({ parents, field, parentsField = field }: EntryPath): Promise<void> {
    const name = parents.at(-1);
    if (name === undefined) return;
    const path = { parents: parents.slice(0, -1), name, field: parentsField };
    const found = await this.#client.find(parents);
    if (found?.isFolder) return;
    if (found !== undefined) throw refusePath("ENOTDIR", path);
    await this.#makeFolders(path);
    await this.#client.makeFolder(parents);
  }

  /** What was shown there, where it was. */
  async #find({ parents, name, expected }: EntryPath): Promise<DavResource | undefined> {
    const parts = [...parents, name];
    if (expected === undefined) return this.#client.find(parts);
    if (expected === null) return undefined;
    const { entry, etag } = expected;
    return { parts, isFolder: entry.type === "folder", size: entry.size ?? 0, modified: entry.modified, etag };
  }

  async #findOrRefuse(path: EntryPath): Promise<DavResource> {
    const found = await this.#find(path);
    if (found === undefined) throw refusePath("ENOENT", path);
    return found;
  }
}

/** True for a version that a condition can name. */
function isStrong(etag: string | undefined): boolean {
  return etag?.startsWith('"') === true;
}

function isSame(one: DriveThing, other: DriveThing): boolean {
  return JSON.stringify(seeThing(one)) === JSON.stringify(seeThing(other));
}

async function toThing(found: DavResource): Promise<DriveThing> {
  return { entry: await toEntry(found), etag: found.etag };
}

async function toEntry({ parts, isFolder, size, modified }: DavResource): Promise<FolderEntry> {
  const name = parts.at(-1) ?? "";
  const common = { path: parts.join("/"), name, ...(modified !== undefined && { modified }) };
  if (isFolder) return { ...common, type: "folder" };
  return { ...common, type: "file", size, mimetype: (await typeByName(name)) ?? "application/octet-stream" };
}
