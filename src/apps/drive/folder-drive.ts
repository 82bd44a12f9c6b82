import { type FileHandle, lstat, readdir } from "node:fs/promises";
import { renameFile } from "../../../base/disk.ts";
import { hasCode } from "../../../base/error-code.ts";
import { checkEnding, explainName, type Folder, withFile } from "../../files/folder.ts";
import { lendPieces } from "../../files/lend-pieces.ts";
import { giveName, type IfExists, type Keep } from "../../files/write-file.ts";
import { describeEntry, type FolderEntry, localFolder, lookAtEntry, saveFile } from "../connection-folder.ts";
import type { ActionContext, HeldFile } from "../integration.ts";
import {
  type Drive,
  type DriveFile,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  refuseChanged,
  toText,
  walkFolders,
} from "./drive.ts";

const PIECE_BYTES = 256 * 1024;
const LEFT_OUT = "It is a link, or neither a file nor a folder, or its name is not in UTF-8, and is left out.";

/** The drive that is a folder of this machine. */
export class FolderDrive implements Drive {
  readonly maxHashed = Number.POSITIVE_INFINITY;
  readonly #context: Pick<ActionContext, "connection" | "signal" | "now">;

  constructor(context: Pick<ActionContext, "connection" | "signal" | "now">) {
    this.#context = context;
  }

  async *list({ parts, field, notShown }: FolderPath): AsyncGenerator<FolderEntry> {
    yield* await localFolder.open(this.#context.connection, { parts, field }, async (folder) => {
      const entries: FolderEntry[] = [];
      for (const name of await readdir(folder.self)) {
        const entry = await lookAtEntry(folder, parts, name);
        if (entry !== undefined) entries.push(entry);
        else notShown?.push({ where: [...parts, name].join("/"), why: LEFT_OUT });
      }
      return entries;
    });
  }

  walk(folder: FolderPath): AsyncIterable<FolderEntry> {
    return walkFolders({ list: (one) => this.list(one) }, folder);
  }

  read<T>(path: EntryPath, use: (file: DriveFile) => Promise<T>): Promise<T> {
    const { parents, name } = path;
    return this.#open(path, false, (folder) =>
      withFile(folder, name, async (handle, stats) => {
        const entry = await describeEntry(parents, name, stats);
        const known = { path: toText(path), name, type: "file", ...entry, size: stats.size } as const;
        return use({ entry: known, read: (from, length) => readPieces(handle, from, length) });
      }),
    );
  }

  save(path: EntryPath, { held, ifExists }: DriveUpload): Promise<FolderEntry & { sha256: string }> {
    const { parents, name, field } = path;
    return this.#open(path, true, async (folder) => {
      const bytes = ifExists === "replace" ? readUnchanged(held, folder, path) : readHeld(held);
      const file = { name, bytes, ifExists, keep: this.#keeps(path), signal: this.#context.signal };
      const hint = 'Set if_exists to "rename" or "replace", or choose another name.';
      const written = await saveFile(folder, parents, file, { field, hint });
      const entry = await lookAtEntry(folder, parents, written.name);
      return { type: "file", ...entry, path: toText({ parents, name: written.name }), ...written };
    });
  }

  createFolder(path: EntryPath): Promise<FolderEntry & { created: boolean }> {
    const { parents, name, field } = path;
    return this.#open(path, true, async (parent) => {
      const before = await lookAtEntry(parent, parents, name);
      const place = { parts: [...parents, name], field, create: true };
      const entry = await localFolder.open(this.#context.connection, place, () => lookAtEntry(parent, parents, name));
      return { path: toText(path), name, type: "folder", ...entry, created: before === undefined };
    });
  }

  move(source: EntryPath, target: EntryPath, ifExists: IfExists): Promise<FolderEntry> {
    return this.#open(source, false, async (from) => {
      await lstat(from.at(source.name));
      return this.#open(target, true, async (to) => {
        const isInside = [...source.parents, source.name].every((part, index) => part === target.parents[index]);
        const how = { ifExists, keep: this.#keeps(target), isInside };
        const name = await move(from.at(source.name), to, target.name, how);
        await to.flush();
        await from.flush();
        const { parents } = target;
        return { path: toText({ parents, name }), name, type: "file", ...(await lookAtEntry(to, parents, name)) };
      });
    });
  }

  trash({ parents, name, field }: EntryPath): Promise<string> {
    const { connection, now } = this.#context;
    return localFolder.trash(connection, { parts: parents, field, name }, now());
  }

  /** A file that is replaced is found in the trash, like one that is deleted. */
  #keeps({ parents, name, field }: EntryPath): Keep {
    const { connection, now } = this.#context;
    return () => localFolder.keep(connection, { parts: parents, field, name }, now());
  }

  /** Opens the folder that an entry is in. */
  #open<T>(path: EntryPath, create: boolean, use: (folder: Folder) => Promise<T>): Promise<T> {
    const { parents, name, field, parentsField } = path;
    const named = parentsField === undefined ? { field, name } : { field: parentsField };
    return localFolder.open(this.#context.connection, { parts: parents, create, ...named }, use);
  }
}

/** Opens the file only when it is read, so that a refusal before that leaves nothing open. */
async function* readHeld(file: HeldFile): AsyncGenerator<Uint8Array, void, undefined> {
  yield* lendPieces(file.open());
}

/** Refuses at its end, right before the name is given, when somebody else wrote a file of that name meanwhile. */
async function* readUnchanged(file: HeldFile, folder: Folder, path: EntryPath): AsyncGenerator<Uint8Array> {
  const look = () => lstat(folder.at(path.name)).catch(() => undefined);
  const before = await look();
  yield* readHeld(file);
  const now = await look();
  if (now?.ino !== before?.ino || now?.mtimeMs !== before?.mtimeMs || now?.size !== before?.size)
    throw refuseChanged(path);
}

async function* readPieces(handle: FileHandle, from: number, length: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafe(Math.min(PIECE_BYTES, length));
  for (let done = 0; done < length; ) {
    const { bytesRead } = await handle.read(buffer, 0, Math.min(buffer.length, length - done), from + done);
    if (bytesRead === 0) return;
    done += bytesRead;
    yield Buffer.from(buffer.subarray(0, bytesRead));
  }
}

/** `isInside` says that the folder `to` is in what is moved. */
async function move(
  from: string,
  to: Folder,
  name: string,
  how: Parameters<typeof giveName>[3] & { readonly isInside: boolean },
): Promise<string> {
  const source = await lstat(from);
  if (source.isSymbolicLink()) throw Object.assign(new Error("is a link"), { code: "ELOOP" });
  if (!source.isDirectory()) return giveName(from, to, name, how);
  // A folder cannot be linked, and renaming over an empty folder would swallow it.
  const taken = await lstat(to.at(name)).catch(() => undefined);
  if (taken !== undefined) throw Object.assign(new Error("taken"), { code: "EEXIST" });
  await checkEnding(to, name);
  await renameFile(from, to.at(name)).catch(async (error: unknown) => {
    const isInside = how.isInside && hasCode(error, "EINVAL");
    throw isInside ? Object.assign(new Error("is inside itself"), { code: "INSIDE" }) : await explainName(error, from);
  });
  return name;
}
