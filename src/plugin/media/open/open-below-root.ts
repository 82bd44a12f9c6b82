import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { errorCode, hasCode } from "../../../shared/base/error-code.ts";
import { MAX_FILE_BYTES } from "../../../shared/wire/constants.ts";
import type { MediaRefusalCode } from "../media-refusal.ts";
import { foldName } from "./denied-names.ts";
import { O_PATH, type OpenMode } from "./roots.ts";

/** A regular file with one name, opened for reading, or the reason against it. */
export type OpenedFile =
  | { readonly handle: FileHandle; readonly stats: BigIntStats }
  | { readonly refused: MediaRefusalCode };

function judgeStats(stats: BigIntStats): MediaRefusalCode | undefined {
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isDirectory()) return "is_directory";
  if (!stats.isFile()) return "not_regular";
  if (stats.nlink === 0n) return "not_found";
  if (stats.nlink !== 1n) return "hardlink";
  if (stats.size === 0n) return "empty_file";
  return stats.size > BigInt(MAX_FILE_BYTES) ? "too_large" : undefined;
}

function judgeOpenError(error: unknown): MediaRefusalCode {
  switch (errorCode(error)) {
    case "ENOENT":
    case "ENOTDIR":
      return "not_found";
    case "ELOOP":
      return "symlink";
    case "ENAMETOOLONG":
      return "name_too_long";
    case "ENXIO":
    case "ENODEV":
      return "not_regular";
    default:
      return "unreadable";
  }
}

const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;
// A FIFO or terminal put in place of the file cannot make this block or become our controlling terminal.
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Linux: goes down from the open root one component at a time, never following a link, and opens for reading exactly
 * the inode that was judged. `/proc/self/fd/<n>/<name>` is what `openat(n, name)` is in C, so no path can be swapped
 * between two checks. Only a regular file is ever opened: `O_PATH` merely names it.
 */
export async function openByWalk(anchor: FileHandle, components: readonly string[]): Promise<OpenedFile> {
  const held: FileHandle[] = [];
  try {
    let at = anchor;
    for (const name of components) {
      at = await openEntry(at, name);
      held.push(at);
      if (held.length === components.length) break;
      const refused = await judgeFolder(at);
      if (refused !== undefined) return { refused };
    }
    const stats = await at.stat({ bigint: true });
    const refused = judgeStats(stats);
    if (refused !== undefined) return { refused };
    return { handle: await open(`/proc/self/fd/${at.fd}`, READ), stats };
  } catch (error) {
    return { refused: judgeOpenError(error) };
  } finally {
    await Promise.all(held.map((handle) => handle.close()));
  }
}

/** Another system may have stored the name in the other normal form of Unicode. */
async function openEntry(folder: FileHandle, name: string): Promise<FileHandle> {
  const others = ["NFC", "NFD"].map((form) => name.normalize(form)).filter((other) => other !== name);
  const openAs = (one: string) => open(`/proc/self/fd/${folder.fd}/${one}`, NAME_ONLY);
  return openAs(name).catch(async (error: unknown) => {
    if (!hasCode(error, "ENOENT")) throw error;
    for (const other of others) {
      const found = await openAs(other).catch(() => undefined);
      if (found !== undefined) return found;
    }
    throw error;
  });
}

async function judgeFolder(folder: FileHandle): Promise<MediaRefusalCode | undefined> {
  const stats = await folder.stat();
  if (stats.isSymbolicLink()) return "symlink";
  return stats.isDirectory() ? undefined : "not_found";
}

/** macOS `O_NOFOLLOW_ANY`: a symbolic link in any component fails the open. Linux would ignore the bit silently. */
const O_NOFOLLOW_ANY = 0x2000_0000;

/**
 * For systems without `/proc/self/fd`. macOS refuses links in every component itself. Other POSIX systems are safe
 * only while nobody else can rename anything on the way, so folders others can write to are refused. Windows has no
 * such flags and its rights are not looked at: there comparing identities is all that can be done.
 */
export async function openByIdentity(
  canonicalRoot: string,
  components: readonly string[],
  mode: OpenMode,
): Promise<OpenedFile> {
  const target = path.join(canonicalRoot, ...components);
  let handle: FileHandle | undefined;
  try {
    const onTheWay = await judgeWay(canonicalRoot, components, mode);
    if (onTheWay !== undefined) return { refused: onTheWay };
    const before = await lstat(target, { bigint: true });
    const refused = judgeStats(before);
    if (refused !== undefined) return { refused };
    handle = await open(target, readFlags(mode));
    const stats = await handle.stat({ bigint: true });
    const wrong = judgeStats(stats) ?? (await judgeIdentity(target, before, stats, mode));
    if (wrong === undefined) return { handle, stats };
    await handle.close();
    return { refused: wrong };
  } catch (error) {
    await handle?.close();
    return { refused: judgeOpenError(error) };
  }
}

function readFlags(mode: OpenMode): number {
  if (mode === "windows") return constants.O_RDONLY;
  const noFollow = mode === "nofollow-any" ? O_NOFOLLOW_ANY : constants.O_NOFOLLOW;
  return constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY | noFollow;
}

async function judgeWay(
  root: string,
  components: readonly string[],
  mode: OpenMode,
): Promise<MediaRefusalCode | undefined> {
  let at = root;
  for (const name of components.slice(0, -1)) {
    at = path.join(at, name);
    if ((await lstat(at)).isSymbolicLink()) return "symlink";
  }
  if (mode !== "identity") return undefined;
  for (let folder = at; ; folder = path.dirname(folder)) {
    if (canOthersRename(await stat(folder, { bigint: true }))) return "unsafe_folder";
    if (folder === path.dirname(folder)) return undefined;
  }
}

/** True when someone besides root and this user could swap an entry: writable for group or all, without sticky bit. */
function canOthersRename(folder: BigIntStats): boolean {
  const self = process.getuid?.();
  const foreign = self !== undefined && folder.uid !== 0n && folder.uid !== BigInt(self);
  return foreign || ((folder.mode & 0o022n) !== 0n && (folder.mode & 0o1000n) === 0n);
}

async function judgeIdentity(
  target: string,
  before: BigIntStats,
  opened: BigIntStats,
  mode: OpenMode,
): Promise<MediaRefusalCode | undefined> {
  const now = await stat(target, { bigint: true });
  const same = [before, now].every((seen) => seen.dev === opened.dev && seen.ino === opened.ino);
  if (!same) return "changed_while_reading";
  const real = await realpath(target);
  // Windows and macOS know a name in other case or another form of Unicode as the same one.
  const equal = mode === "identity" ? real === target : foldName(real) === foldName(target);
  return equal ? undefined : "symlink";
}
