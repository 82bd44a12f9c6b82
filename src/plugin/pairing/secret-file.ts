import { constants } from "node:fs";
import { chmod, type FileHandle, mkdir, open, readdir, stat, unlink } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { flushFolder, replaceFile } from "../../shared/base/disk.ts";
import { errorCode, hasCode } from "../../shared/base/error-code.ts";
import { quoteWord } from "../../shared/base/text.ts";
import { SvcError } from "../../shared/errors.ts";

const MAX_BYTES = 64 * 1024;

/** Windows has no such flag, owners or modes: the checks that need them are skipped there. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;
const NON_BLOCKING = constants.O_NONBLOCK ?? 0;

/**
 * Reads a file that must be a regular file of ours that nobody else can read. Undefined when it does not exist.
 * The checks are made on the opened file, so nothing can be exchanged between check and read.
 *
 * @throws SvcError `invalid_config` with the reason and the command that fixes it
 */
export async function readSecretFile(path: string, uid: number | undefined): Promise<string | undefined> {
  const handle = await openSecret(path);
  if (handle === undefined) return undefined;
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw refuse(path, "is not a regular file", "Move it away and pair this device again.");
    if (uid !== undefined && stats.uid !== uid) {
      throw refuse(path, "belongs to another user", "Move it away and pair this device again.");
    }
    if (uid !== undefined && (stats.mode & 0o077) !== 0) {
      throw refuse(path, "is open to other users of this machine", `Run: chmod 600 ${quoteWord(path)}`);
    }
    if (stats.size > MAX_BYTES) throw refuse(path, "is far too large", "Move it away and pair this device again.");
    return await handle.readFile("utf8");
  } finally {
    await handle.close();
  }
}

/**
 * Replaces a secret file so that after a crash it holds the old or the new content, whole: a new file of mode 0600 is
 * written, synced and renamed over it, and the folder is synced. Leftovers of earlier crashes are removed.
 */
export async function writeSecretFile(path: string, text: string): Promise<void> {
  const folder = dirname(path);
  await prepareFolder(folder);
  await removeLeftovers(path);
  await replaceFile(path, text);
  await flushFolder(folder);
}

/** Deletes a secret file, or the link in its place; nothing happens when there is none. */
export async function deleteSecretFile(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (hasCode(error, "ENOENT")) return;
    throw error;
  }
  await flushFolder(dirname(path));
}

/** Creates the folder with mode 0700; removes write permission of others from an existing one. */
export async function prepareFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { mode } = await stat(folder);
  if ((mode & 0o022) !== 0) await chmod(folder, mode & 0o7755);
}

async function openSecret(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, constants.O_RDONLY | NO_FOLLOW | NON_BLOCKING);
  } catch (error) {
    const code = errorCode(error) ?? "unknown";
    if (code === "ENOENT") return undefined;
    if (code === "ELOOP") throw refuse(path, "is a symbolic link", "Replace the link by a file of your own.");
    throw refuse(path, `cannot be opened (${code})`, "Check the owner and the mode of the file and its folder.");
  }
}

async function removeLeftovers(path: string): Promise<void> {
  const folder = dirname(path);
  const prefix = `${basename(path)}.`;
  for (const name of await readdir(folder)) {
    if (name.startsWith(prefix) && /^[0-9a-f]{12}\.tmp$/.test(name.slice(prefix.length))) {
      await unlink(join(folder, name));
    }
  }
}

function refuse(path: string, reason: string, hint: string): SvcError {
  return new SvcError("invalid_config", `The credential file ${path} ${reason}; it was not used.`, {
    field: "credentials",
    hint,
  });
}
