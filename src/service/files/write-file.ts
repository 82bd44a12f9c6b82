import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { copyFile, type FileHandle, lstat, open, rm } from "node:fs/promises";
import { flushFile, flushHandle, linkFile, renameFile, UNFLUSHED } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { checkEnding, explainName, type Folder, removeEmptyFolders, UNFINISHED_PREFIX, withFolder } from "./folder.ts";

/** What to do when the name is taken. */
export type IfExists = "error" | "rename" | "replace";

/** Ends the search for a free name. */
const MAX_RENAMES = 1000;

/**
 * Called as the last thing before a file gets its name, or the name of what is replaced; when it throws, nothing is done. Not
 * with numbered names.
 */
interface Checked {
  readonly check?: (() => Promise<void>) | undefined;
}

/**
 * Gives the file at `from` the name `to` unless that is taken (`EEXIST`); never overwrites, never leaves it nameless. Where
 * the disk has no hard links, an exclusive empty file reserves the name instead.
 */
async function claimName(from: string, to: string): Promise<void> {
  const refuse = async (error: unknown) => {
    throw await explainName(error, from);
  };
  const isLinked = await linkFile(from, to).catch(refuse);
  const reserved = isLinked ? undefined : await open(to, "wx").catch(refuse);
  try {
    await reserved?.close();
    await (isLinked ? rm(from) : renameFile(from, to));
  } catch (error) {
    await rm(to).catch(() => {
      throw Object.assign(new Error("The new name could not be taken back.", { cause: error }), { code: UNFLUSHED });
    });
    throw error;
  }
}

/** `report.pdf` → `report (2).pdf`. */
function numberName(name: string, number: number): string {
  const dot = name.lastIndexOf(".");
  const stem = dot > 0 ? name.slice(0, dot) : name;
  return `${stem} (${number})${name.slice(stem.length)}`;
}

/** Runs `take` with `name`, then with numbered names until one is free: until it does not throw `EEXIST`. Returns that name. */
export async function takeFreeName(name: string, take: (name: string) => Promise<void>): Promise<string> {
  for (let number = 1; ; number++) {
    const candidate = number === 1 ? name : numberName(name, number);
    try {
      await take(candidate);
      return candidate;
    } catch (error) {
      if (number >= MAX_RENAMES || !hasCode(error, "EEXIST")) throw error;
    }
  }
}

/**
 * Keeps what has the name before it is replaced; when it throws, nothing is replaced. Gives what takes the kept copy away
 * again, for when nothing was replaced after all.
 */
export type Keep = () => Promise<() => Promise<void>>;

/**
 * Gives the file at `from` the name `name` in `folder`; returns the name it got. Throws `EEXIST`
 * when that is taken and `ifExists` is `error`; a folder is never replaced.
 */
export async function giveName(
  from: string,
  folder: Folder,
  name: string,
  { ifExists, keep, check }: { readonly ifExists: IfExists; readonly keep?: Keep | undefined } & Checked,
): Promise<string> {
  await checkEnding(folder, name);
  if (ifExists === "rename") return takeFreeName(name, (candidate) => claimName(from, folder.at(candidate)));
  if (ifExists === "error") {
    await check?.();
    await claimName(from, folder.at(name));
  } else {
    const taken = await lstat(folder.at(name)).catch(() => undefined);
    if (taken?.isDirectory()) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
    const isOther = taken !== undefined && taken.ino !== (await lstat(from)).ino;
    const forget = isOther ? await keep?.() : undefined;
    const replace = async () => {
      await check?.();
      await renameFile(from, folder.at(name));
    };
    await replace().catch(async (error: unknown) => {
      await forget?.();
      throw await explainName(error, from);
    });
  }
  return name;
}

async function fill(handle: FileHandle, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, signal?: AbortSignal) {
  const sha256 = createHash("sha256");
  let size = 0;
  for await (const piece of bytes) {
    signal?.throwIfAborted();
    // Hashed while another thread writes it.
    const written = handle.writeFile(piece);
    sha256.update(piece);
    await written;
    size += piece.length;
  }
  await flushHandle(handle);
  return { size, sha256: sha256.digest("hex") };
}

/**
 * Writes a file whole or not at all; it survives a crash once this returns: unfinished file, fsync, link (never over another file) or rename, fsync of the folder. Returns the name it got.
 *
 * Throws the file system's own errors; `EEXIST` when the name is taken and `ifExists` is `error`.
 */
export async function writeFileDurably(
  folder: Folder,
  file: {
    readonly name: string;
    readonly bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>;
    readonly ifExists: IfExists;
    readonly keep?: Keep | undefined;
    /** Permission bits before the umask. Default 0666. */
    readonly mode?: number;
    readonly signal?: AbortSignal;
  } & Checked,
): Promise<{ readonly name: string; readonly size: number; readonly sha256: string }> {
  const unfinished = `${UNFINISHED_PREFIX}${randomBytes(8).toString("hex")}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(folder.at(unfinished), flags, file.mode ?? 0o666);
  try {
    const written = await fill(handle, file.bytes, file.signal).finally(() => handle.close());
    const name = await giveName(folder.at(unfinished), folder, file.name, file);
    await folder.flush();
    return { name, ...written };
  } catch (error) {
    // Hidden where it stays.
    await rm(folder.at(unfinished), { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Folder inside a connection's folder that deleted things move to. */
export const TRASH_FOLDER = ".trash";

/**
 * The folder that an entry of the folder `parents` is deleted into: `.trash/<time>-<random>/<parents>`, so that a human can
 * see where it was and put it back. `now` in milliseconds since the epoch.
 */
export function chooseTrashFolder(parents: readonly string[], now: number): string[] {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  return [TRASH_FOLDER, `${stamp}-${randomBytes(6).toString("hex")}`, ...parents];
}

interface TrashedEntry {
  readonly root: string;
  readonly setting: string;
  readonly parents: readonly string[];
  readonly name: string;
  /** One of {@link chooseTrashFolder} that was chosen before. Default: a new one. */
  readonly trashFolder?: readonly string[] | undefined;
}

/** Moves an entry to the folder of {@link chooseTrashFolder}. Returns its path there. Throws the file system's own errors. */
export async function moveToTrash(entry: TrashedEntry & Checked, now: number): Promise<string> {
  const parts = await putIntoTrash(entry, now, async (from, to) => {
    await entry.check?.();
    await renameFile(from, to);
  });
  return [...parts, entry.name].join("/");
}

/** The same for a file that is about to be replaced: it keeps its place until then, and is on the disk in both; see {@link Keep}. */
export async function keepInTrash(entry: TrashedEntry, now: number): ReturnType<Keep> {
  const parts = await putIntoTrash(entry, now, async (from, to) => {
    if (!(await linkFile(from, to))) await copyWhole(from, to);
  });
  const { name, ...place } = entry;
  return async () => {
    await withFolder({ ...place, parts }, (folder) => rm(folder.at(name), { force: true })).catch(() => undefined);
    await removeEmptyFolders({ ...place, parts });
  };
}

async function copyWhole(from: string, to: string): Promise<void> {
  try {
    await copyFile(from, to, constants.COPYFILE_EXCL);
    await flushFile(to);
  } catch (error) {
    // The folder is new, and so is the name.
    await rm(to, { force: true }).catch(() => undefined);
    throw error;
  }
}

/** Returns the parts of the folder that the entry is in now. */
async function putIntoTrash(
  { root, setting, parents, name, trashFolder }: TrashedEntry,
  now: number,
  put: (from: string, to: string) => Promise<void>,
): Promise<readonly string[]> {
  const parts = trashFolder ?? chooseTrashFolder(parents, now);
  return withFolder({ root, setting, parts: parents }, async (from: Folder) => {
    // Before the trash folder is made: a missing entry must leave no trace.
    await lstat(from.at(name));
    return withFolder({ root, setting, parts, create: true }, async (to) => {
      await put(from.at(name), to.at(name));
      await to.flush();
      await from.flush();
      return parts;
    });
  });
}
