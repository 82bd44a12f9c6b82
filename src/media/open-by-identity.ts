import { type BigIntStats, constants } from "node:fs";
import { type FileHandle, lstat, open, realpath, stat } from "node:fs/promises";
import path from "node:path";
import { judgeOpenError, judgeStats, type OpenedFile } from "./judge-file.ts";
import type { MediaRefusalCode } from "./media-refusal.ts";
import type { OpenMode } from "./roots.ts";

/** macOS `O_NOFOLLOW_ANY`: a symbolic link in any component fails the open. Linux would ignore the bit silently. */
const O_NOFOLLOW_ANY = 0x2000_0000;

/**
 * For systems without `/proc/self/fd`. macOS refuses links in every component itself. Other POSIX systems are safe
 * only while nobody else can rename anything on the way, so folders others can write to are refused. Windows has no
 * such flags and its rights are not looked at: there the identity check is the best effort this package can make.
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
  const equal = mode === "windows" ? real.toLowerCase() === target.toLowerCase() : real === target;
  return equal ? undefined : "symlink";
}
