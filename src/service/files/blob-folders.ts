import { createHash } from "node:crypto";
import { open, readdir, rm, stat } from "node:fs/promises";

/** Account ids become folder names unchanged when they are plain; anything else is hashed. */
export function toFolderName(account: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(account)) return account;
  return `h-${createHash("sha256").update(account).digest("hex")}`;
}

/** Waits until the disk holds a file's bytes or a folder's entries. */
export async function flush(path: string): Promise<void> {
  const handle = await open(path, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/** Names in a folder; none when it is not there. */
export async function listOrNone(path: string): Promise<string[]> {
  return readdir(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return [];
    throw error;
  });
}

/** Removes a file that was last written before `limitMs` (milliseconds since the epoch). */
export async function removeOlder(path: string, limitMs: number): Promise<void> {
  const entry = await stat(path).catch(() => undefined);
  if (entry !== undefined && entry.mtimeMs < limitMs) await rm(path, { force: true });
}
