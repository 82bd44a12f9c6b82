import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { judgeOpenError, judgeStats, type OpenedFile } from "./judge-file.ts";
import type { MediaRefusalCode } from "./media-refusal.ts";
import { O_PATH } from "./roots.ts";

const NAME_ONLY = O_PATH | constants.O_NOFOLLOW;
// A FIFO or terminal put in place of the file cannot make this block or become our controlling terminal.
const READ = constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY;

/**
 * Linux: goes down from the open root one component at a time, never following a link, and opens for reading exactly
 * the inode that was judged. `/proc/self/fd/<n>/<name>` is what `openat(n, name)` is in C, so no path can be swapped
 * between two looks. Nothing but a regular file is ever opened: `O_PATH` only names it.
 */
export async function openByWalk(anchor: FileHandle, components: readonly string[]): Promise<OpenedFile> {
  const held: FileHandle[] = [];
  try {
    let at = anchor;
    for (const name of components) {
      at = await open(`/proc/self/fd/${at.fd}/${name}`, NAME_ONLY);
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

async function judgeFolder(folder: FileHandle): Promise<MediaRefusalCode | undefined> {
  const stats = await folder.stat();
  if (stats.isSymbolicLink()) return "symlink";
  return stats.isDirectory() ? undefined : "not_found";
}
