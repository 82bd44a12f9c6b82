import { UNFINISHED_PREFIX } from "../../service/files/folder.ts";
import { chooseTrashFolder, type IfExists, takeFreeName } from "../../service/files/write-file.ts";
import { refuseValue, ServiceError } from "../../service/service-error.ts";
import { type FolderEntry, refuseEntry } from "../port/connection-folder.ts";
import { createActionDefiner, type PlaceAction } from "../port/define-action.ts";
import type { HeldFile } from "../port/integration.ts";
import type { NotShown } from "../port/not-shown.ts";
import { refuseChanged as refuseUnseen } from "../port/preview.ts";

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
  /** What was read there before, null for nothing: nothing else is read or changed. Default: nothing was read. */
  readonly expected?: DriveThing | null | undefined;
  /** True where nobody was shown `expected`; default: whoever approved the call was. */
  readonly isUnseen?: boolean;
  /**
   * Folder of the trash for what is deleted or replaced there, chosen by `chooseTrashFolder`; null where it is replaced without
   * a copy. Default: a new one.
   */
  readonly trashFolder?: readonly string[] | null | undefined;
}

/** What is at a path of a drive at one moment. */
export interface DriveThing {
  readonly entry: FolderEntry;
  /** As the server writes it; undefined where it gives none. */
  readonly etag?: string | undefined;
  /** Of a file of at most 25 MB in a folder of this machine. */
  readonly sha256?: string | undefined;
  /** True for a link, a device and everything else that is neither file nor folder. */
  readonly isOther?: boolean;
  /** Of a folder that was looked into. */
  readonly inside?: ThingsInside;
}

/** What is below a folder, hidden names too. */
export interface ThingsInside {
  readonly things: readonly DriveThing[];
  /** False when there are more of them. */
  readonly isWhole: boolean;
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
  /** False where a folder is the beginning of names: what is saved or moved into a missing one makes none. */
  readonly hasFolders: boolean;
  /** What is right in a folder, in any order. */
  list(folder: FolderPath): AsyncIterable<FolderEntry>;
  /** Everything below a folder, in any order; hidden names and what is in hidden folders are left out. */
  walk(folder: FolderPath): AsyncIterable<FolderEntry>;
  /** What is there; undefined when nothing is. Throws for a file in the place of a folder at the latest when that is looked at. */
  look(path: EntryPath): Promise<DriveThing | undefined>;
  /** What is below a folder. Throws where it is too much to be moved. */
  lookInside(path: EntryPath): Promise<ThingsInside>;
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
  /** False where a file that is replaced cannot be copied to the trash before. */
  canKeep(path: EntryPath): Promise<boolean>;
  /** Takes an empty folder away; false when it is not there, or something is in it. */
  removeEmpty(path: EntryPath): Promise<boolean>;
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

/**
 * The refusal of an entry that is not there (`ENOENT`), is taken (`EEXIST`), is a folder (`EISDIR`) or none (`ENOTDIR`), is a
 * link (`ELOOP`), or lies in what is to be moved (`INSIDE`).
 */
export function refusePath(
  code: "ENOENT" | "EEXIST" | "EISDIR" | "ENOTDIR" | "EINVAL" | "ELOOP" | "INSIDE",
  path: EntryPath,
): Error {
  return refuseEntry(code, path.field, toText(path)) ?? new Error(code);
}

/** True where whoever approved the call was shown what is at the path. */
export function isShown({ expected, isUnseen = false }: EntryPath): boolean {
  return expected !== undefined && !isUnseen;
}

/** The folder of the trash for what is at the path; `now` in milliseconds since the epoch. */
export function toTrashFolder({ parents, trashFolder }: EntryPath, now: number): readonly string[] {
  return trashFolder ?? chooseTrashFolder(parents, now);
}

/** The refusal of a name that is taken, with a way on; of one that was shown as free or as another file's, that of a changed state. */
export function refuseTaken(path: EntryPath): ServiceError {
  if (isShown(path)) return refuseUnseen();
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

/**
 * 409 `conflict`: somebody else changed what was to be replaced or moved, after it was looked at. Nothing was done. Of what a
 * human was shown, 412 `state_changed`.
 */
export function refuseChanged(path: EntryPath): ServiceError {
  if (isShown(path)) return refuseUnseen();
  const message = `"${toText(path)}" was changed by somebody else at this moment. Nothing was done.`;
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

/** Most things of a folder that are looked at, and most folders that are listed for it. */
const MAX_INSIDE = 1000;
const MAX_LOOKED_INTO = 100;

/** {@link Drive.lookInside} by listing one folder after the other. */
export async function listInside(
  list: (parts: readonly string[]) => Promise<readonly DriveThing[]>,
  start: readonly string[],
): Promise<ThingsInside> {
  const open: (readonly string[])[] = [start];
  const things: DriveThing[] = [];
  for (let looked = 0; looked < MAX_LOOKED_INTO && things.length <= MAX_INSIDE; looked += 1) {
    const parts = open.shift();
    if (parts === undefined) return { things, isWhole: true };
    const here = [...(await list(parts))].sort((a, b) => (a.entry.name < b.entry.name ? -1 : 1));
    things.push(...here);
    open.push(...here.filter(({ entry }) => entry.type === "folder").map(({ entry }) => [...parts, entry.name]));
  }
  return { things: things.slice(0, MAX_INSIDE), isWhole: open.length === 0 && things.length <= MAX_INSIDE };
}

/** What tells the state of a thing from any other one, as JSON; see `PreviewDraft.seen`. */
export function seeThing({ entry, etag, sha256, isOther, inside }: DriveThing): unknown {
  const { path, type, size, modified } = entry;
  // A folder is as it was while what is in it is; and some servers call an ETag weak in its first second.
  const version = type === "folder" ? "" : (etag?.replace(/^W\//, "") ?? sha256 ?? [size, modified]);
  const below = inside && [inside.isWhole, inside.things.map(seeThing)];
  return [path, type, version, ...(isOther ? ["other"] : []), ...(below === undefined ? [] : [below])];
}
