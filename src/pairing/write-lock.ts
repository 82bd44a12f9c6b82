import { open, readFile, rename, stat, unlink } from "node:fs/promises";
import { setTimeout as delay } from "node:timers/promises";
import { SvcError } from "../errors.ts";

/** Changing the file takes milliseconds: an older lock was left by a crash. */
const STALE_AFTER_MS = 10_000;
const GIVE_UP_AFTER_MS = 15_000;
const RETRY_MS = 20;

/**
 * Runs `work` while no other process (or other call in this one) does the same for this lock file, so that two
 * processes changing different parts of one file do not undo each other. A lock whose process is gone is taken over.
 *
 * @throws SvcError `invalid_config` when the lock does not become free within 15 s
 */
export async function withWriteLock<T>(lockFile: string, work: () => Promise<T>): Promise<T> {
  await takeLock(lockFile);
  try {
    return await work();
  } finally {
    await removeIfThere(lockFile);
  }
}

async function takeLock(lockFile: string): Promise<void> {
  const giveUpAt = performance.now() + GIVE_UP_AFTER_MS;
  while (!(await createLock(lockFile))) {
    if (await isStale(lockFile)) {
      await moveAway(lockFile);
    } else if (performance.now() > giveUpAt) {
      throw new SvcError("invalid_config", `${lockFile} is held by another process.`, {
        field: "credentials",
        hint: "Wait for the other pairing to end, or delete the lock file if there is none.",
      });
    } else {
      await delay(RETRY_MS);
    }
  }
}

async function createLock(lockFile: string): Promise<boolean> {
  try {
    const handle = await open(lockFile, "wx", 0o600);
    try {
      await handle.writeFile(String(process.pid));
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (isCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function isStale(lockFile: string): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lockFile, "utf8"), stat(lockFile)]);
    if (Date.now() - mtimeMs > STALE_AFTER_MS) return true;
    return /^\d+$/.test(holder) && !isAlive(Number(holder));
  } catch (error) {
    if (isCode(error, "ENOENT")) return false;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !isCode(error, "ESRCH");
  }
}

/** By renaming, so that of several processes which all see the stale lock only one removes it. */
async function moveAway(lockFile: string): Promise<void> {
  const aside = `${lockFile}.${process.pid}-${Math.trunc(performance.now() * 1000)}`;
  try {
    await rename(lockFile, aside);
  } catch (error) {
    if (isCode(error, "ENOENT")) return;
    throw error;
  }
  await removeIfThere(aside);
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!isCode(error, "ENOENT")) throw error;
  }
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
