import { randomBytes } from "node:crypto";
import { fsync } from "node:fs";
import { type FileHandle, link, mkdir, open, rename, stat, unlink } from "node:fs/promises";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { errorCode, hasCode } from "./error-code.ts";

/**
 * Makes a folder with those above it, all with mode 0700; false when it was there. Unlike Node's own recursive mkdir it
 * ends where a file system has folders and takes no new ones, such as /proc.
 */
export async function makeFolders(path: string): Promise<boolean> {
  const first = await makeFolder(path);
  if (first !== "orphan") return first === "made";
  if (dirname(path) !== path) await makeFolders(dirname(path));
  const second = await makeFolder(path);
  if (second !== "orphan") return second === "made";
  throw Object.assign(new Error(`${path} cannot be made.`), { code: "ENOENT" });
}

/** `orphan`: the folder above it is not there. */
async function makeFolder(path: string): Promise<"made" | "there" | "orphan"> {
  try {
    await mkdir(path, { mode: 0o700 });
    return "made";
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "orphan";
    if (hasCode(error, "EEXIST") && (await stat(path)).isDirectory()) return "there";
    throw error;
  }
}

/**
 * How a disk says that it does not flush: SMB, FUSE, shares between a machine and a virtual one. What it cannot do is no failure:
 * its files are as safe as it makes them.
 */
const NO_FLUSH = ["EINVAL", "ENOSYS", "ENOTSUP", "EOPNOTSUPP"];
/** The same for folders, also from Windows, which opens them for reading alone, or not at all. */
const NO_FOLDER_FLUSH = new Set([...NO_FLUSH, "EPERM", "EACCES", "EBADF", "EISDIR"]);

/** Code of the error after a change that was made: the disk could not say that it would survive a crash. */
export const UNFLUSHED = "UNFLUSHED";

const flushDescriptor = promisify(fsync);

/** Waits until the disk holds the bytes of a file that is open for writing. */
export async function flushHandle(handle: FileHandle): Promise<void> {
  try {
    await handle.sync();
  } catch (error) {
    if (!NO_FLUSH.includes(errorCode(error) ?? "")) throw error;
  }
}

/** The same for the file at `path`, which must be writable: Windows flushes no other. */
export async function flushFile(path: string): Promise<void> {
  const handle = await open(path, "r+");
  try {
    await flushHandle(handle);
  } finally {
    await handle.close();
  }
}

/**
 * Waits until the disk holds the entries of a folder, given by its path or open descriptor. Call it after a change of them.
 *
 * @throws Error with code {@link UNFLUSHED} where the disk fails: the change was made.
 */
export async function flushFolder(folder: string | number): Promise<void> {
  try {
    if (typeof folder === "number") return await flushDescriptor(folder);
    const handle = await open(folder, "r");
    await handle.sync().finally(() => handle.close());
  } catch (cause) {
    const code = errorCode(cause) ?? "unknown";
    if (NO_FOLDER_FLUSH.has(code)) return;
    throw Object.assign(new Error(`The folder could not be flushed (${code}).`, { cause }), { code: UNFLUSHED });
  }
}

/** How long a rename waits in all, in milliseconds: a scanner or an indexer of Windows closes a file soon. */
const PATIENCE_MS = [10, 20, 40, 80, 150, 300, 400];
const HELD_OPEN = new Set(["EPERM", "EACCES", "EBUSY"]);

/** `rename`, with patience where Windows refuses it because another program has one of the two files open. */
export async function renameFile(
  from: string,
  to: string,
  system = { platform: process.platform, rename },
): Promise<void> {
  for (const wait of system.platform === "win32" ? PATIENCE_MS : []) {
    try {
      return await system.rename(from, to);
    } catch (error) {
      if (!HELD_OPEN.has(errorCode(error) ?? "")) throw error;
      await delay(wait);
    }
  }
  await system.rename(from, to);
}

/** How disks say that they have no hard links; EISDIR is Windows' word for exFAT. */
const NO_LINKS = new Set("EPERM EACCES EISDIR EINVAL ENOTSUP EOPNOTSUPP ENOSYS EMLINK EXDEV".split(" "));

/** `link`: false where the disk has no hard links. Throws `EEXIST` when the name `to` is taken. */
export async function linkFile(from: string, to: string, system = { link }): Promise<boolean> {
  try {
    await system.link(from, to);
    return true;
  } catch (error) {
    if (!NO_LINKS.has(errorCode(error) ?? "")) throw error;
    return false;
  }
}

/** Writes `content` to `file` (mode 0600, folder 0700) so that a reader sees the old or the new content, never a part. */
export async function replaceFile(file: string, content: string | Uint8Array): Promise<void> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const temporary = `${file}.${randomBytes(6).toString("hex")}.tmp`;
  const handle = await open(temporary, "wx", 0o600);
  try {
    try {
      await handle.writeFile(content, "utf8");
      await flushHandle(handle);
    } finally {
      await handle.close();
    }
    await renameFile(temporary, file);
  } catch (error) {
    // The first error counts.
    await unlink(temporary).catch(() => undefined);
    throw error;
  }
}
