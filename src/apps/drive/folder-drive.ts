import { createHash } from "node:crypto";
import { type FileHandle, lstat, readdir, rmdir } from "node:fs/promises";
import { checkEnding, explainName, type Folder, withFile } from "../../service/files/folder.ts";
import { lendPieces } from "../../service/files/lend-pieces.ts";
import { giveName, type IfExists, type Keep } from "../../service/files/write-file.ts";
import { ServiceError } from "../../service/service-error.ts";
import { renameFile } from "../../shared/base/disk.ts";
import { errorCode, hasCode } from "../../shared/base/error-code.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import { describeEntry, type FolderEntry, localFolder, lookAtEntry, saveFile } from "../port/connection-folder.ts";
import type { ActionContext, HeldFile } from "../port/integration.ts";
import { refuseChanged as refuseUnseen } from "../port/preview.ts";
import {
  type Drive,
  type DriveFile,
  type DriveThing,
  type DriveUpload,
  type EntryPath,
  type FolderPath,
  isShown,
  listInside,
  refuseChanged,
  seeThing,
  type ThingsInside,
  toText,
  walkFolders,
} from "./drive.ts";

const PIECE_BYTES = 256 * 1024;
/** Codes for a folder that is not there, or not empty. */
const NOT_EMPTY: ReadonlySet<string> = new Set(["ENOTEMPTY", "EEXIST", "ENOENT", "ENOTDIR"]);
const LEFT_OUT = "It is a link, or neither a file nor a folder, or its name is not in UTF-8, and is left out.";

/** The drive that is a folder of this machine. */
export class FolderDrive implements Drive {
  readonly maxHashed = Number.POSITIVE_INFINITY;
  readonly hasFolders = true;
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

  async look(path: EntryPath): Promise<DriveThing | undefined> {
    const { parents, name } = path;
    try {
      return await this.#open(path, false, async (folder) => {
        const stats = await lstat(folder.at(name));
        const entry = await describeEntry(parents, name, stats);
        if (entry === undefined) {
          const modified = stats.mtime.toISOString();
          return { entry: { path: toText(path), name, type: "file", modified }, isOther: true };
        }
        if (entry.type === "folder" || stats.size > MAX_FILE_BYTES) return { entry };
        // What may not be read may be moved all the same.
        return { entry, sha256: await hashFile(folder, name, this.#context.signal).catch(() => undefined) };
      });
    } catch (error) {
      if (error instanceof ServiceError && error.status === 404) return undefined;
      throw error;
    }
  }

  lookInside({ parents, name, field }: EntryPath): Promise<ThingsInside> {
    const list = (parts: readonly string[]) =>
      localFolder.open(this.#context.connection, { parts, field }, async (folder) => {
        const names = await readdir(folder.self);
        const entries = await Promise.all(names.map((one) => lookAtEntry(folder, parts, one)));
        return entries.flatMap((entry, index) => {
          const other = {
            path: [...parts, names[index] ?? ""].join("/"),
            name: names[index] ?? "",
            type: "file",
          } as const;
          return [entry === undefined ? { entry: other, isOther: true } : { entry }];
        });
      });
    return listInside(list, [...parents, name]);
  }

  /** Throws once what is at a path is no longer what was shown there. */
  async #checkShown(path: EntryPath): Promise<void> {
    const { expected } = path;
    if (!expected) return;
    const now = await this.look(path);
    const inside = now && expected.inside && (await this.lookInside(path));
    const seen = now && seeThing({ ...now, ...(inside && { inside }) });
    if (JSON.stringify(seen) !== JSON.stringify(seeThing(expected))) throw refuseChanged(path);
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
      const isChecked = path.expected !== undefined;
      const bytes = ifExists === "replace" && !isChecked ? readUnchanged(held, folder, path) : readHeld(held);
      const how = { ifExists, keep: this.#keeps(path), check: () => this.#checkShown(path) };
      const hint = 'Set if_exists to "rename" or "replace", or choose another name.';
      const file = { name, bytes, ...how, signal: this.#context.signal };
      const written = await saveFile(folder, parents, file, {
        field,
        hint,
        wasFree: path.expected === null && isShown(path),
      });
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
        const check = async () => {
          await this.#checkShown(target);
          await this.#checkShown(source);
        };
        const how = { ifExists, keep: this.#keeps(target), check, isInside };
        const name = await move(from.at(source.name), to, target.name, how).catch((error: unknown) => {
          throw target.expected === null && isShown(target) && hasCode(error, "EEXIST") ? refuseUnseen() : error;
        });
        await to.flush();
        await from.flush();
        const { parents } = target;
        return { path: toText({ parents, name }), name, type: "file", ...(await lookAtEntry(to, parents, name)) };
      });
    });
  }

  trash(path: EntryPath): Promise<string> {
    const { connection, now } = this.#context;
    const { parents: parts, name, field } = path;
    const trashFolder = path.trashFolder ?? undefined;
    const check = () => this.#checkShown(path);
    return localFolder.trash(connection, { parts, field, name, check, trashFolder }, now());
  }

  async canKeep(): Promise<boolean> {
    return true;
  }

  removeEmpty(path: EntryPath): Promise<boolean> {
    return this.#open(path, false, async (folder) => {
      try {
        await rmdir(folder.at(path.name));
      } catch (error) {
        if (NOT_EMPTY.has(errorCode(error) ?? "")) return false;
        throw error;
      }
      await folder.flush();
      return true;
    });
  }

  /** A file that is replaced is found in the trash, like one that is deleted. */
  #keeps({ parents: parts, name, field, trashFolder }: EntryPath): Keep | undefined {
    const { connection, now } = this.#context;
    if (trashFolder === null) return undefined;
    return () => localFolder.keep(connection, { parts, field, name, trashFolder }, now());
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

async function hashFile(folder: Folder, name: string, signal: AbortSignal): Promise<string> {
  const sha256 = createHash("sha256");
  await withFile(folder, name, async (handle, { size }) => {
    for await (const piece of readPieces(handle, 0, size)) {
      signal.throwIfAborted();
      sha256.update(piece);
    }
  });
  return sha256.digest("hex");
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
  await how.check?.();
  await renameFile(from, to.at(name)).catch(async (error: unknown) => {
    const isInside = how.isInside && hasCode(error, "EINVAL");
    throw isInside ? Object.assign(new Error("is inside itself"), { code: "INSIDE" }) : await explainName(error, from);
  });
  return name;
}
