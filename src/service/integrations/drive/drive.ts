import { UNFINISHED_PREFIX } from "../../files/folder.ts";
import { type IfExists, takeFreeName } from "../../files/write-file.ts";
import { refuseValue, ServiceError } from "../../service-error.ts";
import { type FolderEntry, refuseEntry } from "../connection-folder.ts";
import { createActionDefiner, type PlaceAction } from "../define-action.ts";
import type { HeldFile } from "../integration.ts";
import type { NotShown } from "../not-shown.ts";

/** A folder of a drive, and the argument that named it. */
export interface FolderPath {
  readonly parts: readonly string[];
  readonly field: string;
  /** Where a list says what it leaves out. */
  readonly notShown?: NotShown[];
}

/** A file or folder of a drive, and the argument that named it. */
export interface EntryPath {
  readonly parents: readonly string[];
  readonly name: string;
  readonly field: string;
  /** The argument that named `parents`; default `field`. */
  readonly parentsField?: string;
}

/** A file whose bytes can be asked for. They all belong to one version of it, or reading them fails. */
export interface DriveFile {
  readonly entry: FolderEntry & { readonly size: number };
  /** At most `length` bytes from `from` on, in pieces. */
  read(from: number, length: number): AsyncIterable<Uint8Array>;
}

/** A file to be saved. */
export interface DriveUpload {
  readonly held: HeldFile;
  readonly ifExists: IfExists;
}

/**
 * The files of one connection for the length of one call: a folder of this machine, a WebDAV server or a bucket. Every
 * method throws ServiceError for failures it can name: 404 for what is not there, 400 naming the argument for a name that
 * is taken, for a folder in the place of a file and the other way round. Missing parents of what is written are created.
 * Nothing is replaced but the file that `ifExists` allows to replace, and only as it was when the call found it.
 */
export interface Drive {
  /** Size in bytes up to which a file is read as a whole for its SHA-256. */
  readonly maxHashed: number;
  /** What is right in a folder, in any order. */
  list(folder: FolderPath): AsyncIterable<FolderEntry>;
  /** Everything below a folder, in any order; hidden names and what is in hidden folders are left out. */
  walk(folder: FolderPath): AsyncIterable<FolderEntry>;
  /** Runs `use` with a file. */
  read<T>(path: EntryPath, use: (file: DriveFile) => Promise<T>): Promise<T>;
  /** Saves whole or not at all. */
  save(path: EntryPath, file: DriveUpload): Promise<FolderEntry & { readonly sha256: string }>;
  /** Leaves an existing folder as it is: `created` is false then. */
  createFolder(path: EntryPath): Promise<FolderEntry & { readonly created: boolean }>;
  /** Folders are never replaced, and get no numbered name. */
  move(from: EntryPath, to: EntryPath, ifExists: IfExists): Promise<FolderEntry>;
  /** Moves to the trash of the drive; the path there. */
  trash(path: EntryPath): Promise<string>;
}

/** Opens the drive of the connection in `context`; does no I/O yet. */
export type OpenDrive = Parameters<PlaceAction<Drive>>[0];

/** Defines an action on the drive of the connection it is called with. */
export const defineDriveAction = createActionDefiner<Drive>();

/** Path of an entry as people and arguments write it. */
export function toText({ parents, name }: Pick<EntryPath, "parents" | "name">): string {
  return [...parents, name].join("/");
}

/** True for names that listings leave out unless they are asked for. */
export function isHidden(name: string): boolean {
  return name.startsWith(".");
}

/** True for the name of a file that is still being written. */
export function isUnfinished(name: string): boolean {
  return name.startsWith(UNFINISHED_PREFIX);
}

/** The refusal of an entry that is not there (`ENOENT`), is taken (`EEXIST`), is a folder (`EISDIR`) or none (`ENOTDIR`). */
export function refusePath(code: "ENOENT" | "EEXIST" | "EISDIR" | "ENOTDIR" | "EINVAL", path: EntryPath): Error {
  return refuseEntry(code, path.field, toText(path)) ?? new Error(code);
}

/** The refusal of a name that is taken, with a way on. */
export function refuseTaken(path: EntryPath): ServiceError {
  const hint = 'Set if_exists to "rename" or "replace", or choose another name.';
  return refuseValue(path.field, `is taken: "${toText(path)}" exists.`, hint);
}

/** Lets `take` have the name of `path`, or numbered ones where it may be another, until one was free; returns that name. */
export async function takeName(
  path: EntryPath,
  mayRename: boolean,
  take: (name: string) => Promise<boolean>,
): Promise<string> {
  const attempt = async (name: string) => {
    if (await take(name)) return;
    throw mayRename ? Object.assign(new Error("taken"), { code: "EEXIST" }) : refuseTaken(path);
  };
  if (mayRename) return takeFreeName(path.name, attempt);
  await attempt(path.name);
  return path.name;
}

/** 409 `conflict`: somebody else changed the file that was to be replaced, after it was looked at. Nothing was done. */
export function refuseChanged(path: EntryPath): ServiceError {
  const message = `"${toText(path)}" was changed by somebody else at this moment, and not replaced.`;
  return new ServiceError(409, "conflict", message, { type: "provider", hint: "Read its present state first." });
}

/** {@link Drive.walk} by listing one folder after the other. */
export async function* walkFolders({ list }: Pick<Drive, "list">, start: FolderPath): AsyncGenerator<FolderEntry> {
  const open: (readonly string[])[] = [start.parts];
  for (let parts = open.shift(); parts !== undefined; parts = open.shift()) {
    for await (const entry of list({ ...start, parts })) {
      if (isHidden(entry.name)) continue;
      yield entry;
      if (entry.type === "folder") open.push([...parts, entry.name]);
    }
  }
}
