import { randomBytes } from "node:crypto";
import { MAX_FILE_BYTES } from "../../../../wire/constants.ts";
import { UNFINISHED_PREFIX } from "../../../files/folder.ts";
import { typeByName } from "../../../files/sniff-mimetype.ts";
import { chooseTrashFolder, type IfExists } from "../../../files/write-file.ts";
import type { FolderEntry } from "../../connection-folder.ts";
import type { RemoteCall } from "../../remote-call.ts";
import {
  type Drive,
  type DriveFile,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  refuseChanged,
  refusePath,
  refuseTaken,
  takeName,
  toText,
  walkFolders,
} from "../drive.ts";
import type { DavResource, Overwrite, WebdavClient } from "./webdav-client.ts";

/** The drive that is a folder of a WebDAV server. */
export class WebdavDrive implements Drive {
  readonly maxHashed = MAX_FILE_BYTES;
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

  async read<T>(path: EntryPath, use: (file: DriveFile) => Promise<T>): Promise<T> {
    const found = await this.#findOrRefuse(path);
    if (found.isFolder) throw refusePath("EISDIR", path);
    const entry = { ...(await toEntry(found)), size: found.size };
    return use({ entry, read: (from, length) => this.#client.read(found, from, length) });
  }

  async save(path: EntryPath, { held, ifExists }: DriveUpload): Promise<FolderEntry & { sha256: string }> {
    const target = [...path.parents, path.name];
    const taken = await this.#client.find(target);
    if (taken !== undefined && ifExists === "error") throw refuseTaken(path);
    const { sha256, size } = held;
    const facts = { isFolder: false, size, modified: new Date(this.#call.now()).toISOString(), etag: undefined };
    const replaced = ifExists === "replace" ? taken : undefined;
    if (replaced?.isFolder) throw refusePath("EISDIR", path);
    if (replaced?.etag?.startsWith('"')) {
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
    const taken = await this.#client.find(target);
    const isReplaced = taken !== undefined && ifExists === "replace" && !source.isFolder;
    if (isReplaced && taken.isFolder) throw refusePath("EISDIR", to);
    if (taken !== undefined && (ifExists !== "rename" || source.isFolder) && !isReplaced) throw refuseTaken(to);
    if (isReplaced) {
      await this.#moveOver(source, taken, to);
      return toEntry({ ...source, parts: target });
    }
    await this.#makeFolders(to);
    const name = await this.#moveToName(source, to, ifExists === "rename" && !source.isFolder);
    return toEntry({ ...source, parts: [...to.parents, name] });
  }

  async trash(path: EntryPath): Promise<string> {
    const source = await this.#findOrRefuse(path);
    const to = { ...path, parents: chooseTrashFolder(path.parents, this.#call.now()) };
    await this.#makeFolders(to);
    await this.#moveToName(source, to, false);
    return toText(to);
  }

  /** Copies a file to the trash before it is replaced. */
  async #keep(taken: DavResource, path: EntryPath): Promise<void> {
    const kept = { ...path, parents: chooseTrashFolder(path.parents, this.#call.now()) };
    await this.#makeFolders(kept);
    await this.#client.copy(taken, [...kept.parents, path.name]);
  }

  /** Moves over a file as it was found, as far as the server can check that. */
  async #moveOver(source: DavResource, taken: DavResource, to: EntryPath): Promise<void> {
    await this.#keep(taken, to);
    const { etag, modified, size } = taken;
    const move = (overwrite: Overwrite) => this.#client.move(source, taken.parts, overwrite);
    if (etag !== undefined && (await move({ etag }))) return;
    const now = await this.#client.find(taken.parts);
    // Not every server understands versions in the header If: then the file is still what it was.
    const isSame = now?.etag === etag && now?.modified === modified && now?.size === size;
    if (!isSame || !(await move({ etag: undefined }))) throw refuseChanged(to);
  }

  /** Gives a file or folder the name of `path`, or a numbered one; returns the name. */
  #moveToName(source: DavResource, path: EntryPath, mayRename: boolean): Promise<string> {
    return takeName(path, mayRename, (name) => this.#client.move(source, [...path.parents, name], "never"));
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

  async #findOrRefuse(path: EntryPath): Promise<DavResource> {
    const found = await this.#client.find([...path.parents, path.name]);
    if (found === undefined) throw refusePath("ENOENT", path);
    return found;
  }
}

async function toEntry({ parts, isFolder, size, modified }: DavResource): Promise<FolderEntry> {
  const name = parts.at(-1) ?? "";
  const common = { path: parts.join("/"), name, ...(modified !== undefined && { modified }) };
  if (isFolder) return { ...common, type: "folder" };
  return { ...common, type: "file", size, mimetype: (await typeByName(name)) ?? "application/octet-stream" };
}
