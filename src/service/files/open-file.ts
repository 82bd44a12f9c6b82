import { constants, type Stats } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import type { Folder } from "./folder.ts";

/** O_NONBLOCK: a named pipe in the folder must not stall the service. */
const OPEN_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens a regular file of `folder` without following a link, runs `use` and closes it. Throws `EISDIR` for a folder, `ELOOP` for links, pipes and devices. */
export async function withFile<T>(
  folder: Folder,
  name: string,
  use: (handle: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> {
  const handle = await open(folder.at(name), OPEN_FILE);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
    if (!stats.isFile()) throw Object.assign(new Error("is not a file"), { code: "ELOOP" });
    return await use(handle, stats);
  } finally {
    await handle.close();
  }
}

/** All bytes of a regular file. Throws `EFBIG` above `maxBytes`, before reading. */
export async function readWholeFile(
  folder: Folder,
  name: string,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly stats: Stats }> {
  return withFile(folder, name, async (handle, stats) => {
    if (stats.size > maxBytes) throw Object.assign(new Error("is too large"), { code: "EFBIG" });
    return { bytes: await handle.readFile(), stats };
  });
}
