import { createHash, randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { type FileHandle, link, lstat, open, rename, rm } from "node:fs/promises";
import { errorCode, hasCode } from "../../base/disk.ts";
import { type Folder, withFolder } from "./folder.ts";

/** What to do when the name is taken. */
export type IfExists = "error" | "rename" | "replace";

/** Names that begin so are unfinished writes; listings leave them out. */
export const UNFINISHED_PREFIX = ".svc-unfinished-";

/** Ends the search for a free name. */
const MAX_RENAMES = 1000;
/** Where the disk has no hard links, an exclusive empty file reserves the name instead. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK"]);

/** Gives the file at `from` the name `to` unless that is taken (`EEXIST`); never overwrites, never leaves it nameless. */
async function claimName(from: string, to: string): Promise<void> {
  try {
    await link(from, to);
    await rm(from);
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? "")) throw error;
    const reserved = await open(to, "wx");
    await reserved.close();
    await rename(from, to);
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
 * Gives the file at `from` the name `name` in `folder`; returns the name it got. Throws `EEXIST`
 * when that is taken and `ifExists` is `error`; a folder is never replaced.
 */
export async function giveName(from: string, folder: Folder, name: string, ifExists: IfExists): Promise<string> {
  if (ifExists === "rename") return takeFreeName(name, (candidate) => claimName(from, folder.at(candidate)));
  if (ifExists === "error") await claimName(from, folder.at(name));
  else {
    const taken = await lstat(folder.at(name)).catch(() => undefined);
    if (taken?.isDirectory()) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
    await rename(from, folder.at(name));
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
  await handle.sync();
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
    /** Permission bits before the umask. Default 0666. */
    readonly mode?: number;
    readonly signal?: AbortSignal;
  },
): Promise<{ readonly name: string; readonly size: number; readonly sha256: string }> {
  const unfinished = `${UNFINISHED_PREFIX}${randomBytes(8).toString("hex")}`;
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | (constants.O_NOFOLLOW ?? 0);
  const handle = await open(folder.at(unfinished), flags, file.mode ?? 0o666);
  try {
    const written = await fill(handle, file.bytes, file.signal).finally(() => handle.close());
    const name = await giveName(folder.at(unfinished), folder, file.name, file.ifExists);
    await folder.sync();
    return { name, ...written };
  } catch (error) {
    await rm(folder.at(unfinished), { force: true });
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
  return [TRASH_FOLDER, `${stamp}-${randomBytes(3).toString("hex")}`, ...parents];
}

/** Moves an entry to the folder of {@link chooseTrashFolder}. Returns its path there. Throws the file system's own errors. */
export async function moveToTrash(
  place: {
    readonly root: string;
    readonly setting: string;
    readonly parents: readonly string[];
    readonly name: string;
  },
  now: number,
): Promise<string> {
  const parts = chooseTrashFolder(place.parents, now);
  const { root, setting, parents, name } = place;
  return withFolder({ root, setting, parts: parents }, async (from: Folder) => {
    // Before the trash folder is made: a missing entry must leave no trace.
    await lstat(from.at(name));
    return withFolder({ root, setting, parts, create: true }, async (to) => {
      await rename(from.at(name), to.at(name));
      await to.sync();
      await from.sync();
      return [...parts, name].join("/");
    });
  });
}
