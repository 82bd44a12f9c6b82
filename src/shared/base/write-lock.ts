import { readFileSync, readlinkSync } from "node:fs";
import { open, readFile, stat, unlink } from "node:fs/promises";
import { hostname } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import { SvcError } from "../errors.ts";
import { hasCode } from "./error-code.ts";

/** How long a lock is believed in, and waited for. */
export interface LockLimits {
  /** A lock that is older was left by a crash. Default 10 s: changing a file takes milliseconds. */
  readonly staleAfterMs?: number;
  /** Default 15 s. */
  readonly giveUpAfterMs?: number;
  /** The setting that the lock file belongs to. Default `credentials`. */
  readonly field?: string;
}

const RETRY_MS = 20;

/**
 * Runs `work` while no other process (or other call in this one) does the same for this lock file, so that two
 * processes changing different parts of one file do not undo each other. A lock whose process is gone is taken over; that
 * of a process in another container or machine, which cannot be looked for, once it is too old.
 * All users of one lock file must give the same `limits`; without them the work may take 10 s.
 *
 * @throws SvcError `invalid_config` when the lock does not become free within 15 s, or `limits.giveUpAfterMs`; only its
 *   `cause` holds the path, since a model may read the rest
 */
export async function withWriteLock<T>(lockFile: string, work: () => Promise<T>, limits: LockLimits = {}): Promise<T> {
  await takeLock(lockFile, limits);
  try {
    return await work();
  } finally {
    await removeIfThere(lockFile);
  }
}

async function takeLock(lockFile: string, limits: LockLimits): Promise<void> {
  const { staleAfterMs = 10_000, giveUpAfterMs = 15_000, field = "credentials" } = limits;
  const giveUpAt = performance.now() + giveUpAfterMs;
  while (!(await createLock(lockFile))) {
    if (await isStale(lockFile, staleAfterMs)) {
      await removeStale(lockFile, staleAfterMs);
    } else if (performance.now() > giveUpAt) {
      throw new SvcError("invalid_config", `The files of "${field}" are locked by another process.`, {
        field,
        hint: "Wait for the other process to end. If there is none, delete the one among them whose name ends in .lock.",
        cause: new Error(`${lockFile} is still there.`),
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
      await handle.writeFile(`${process.pid} ${describePlace()}`);
    } catch (error) {
      await removeIfThere(lockFile);
      throw error;
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if (hasCode(error, "EEXIST")) return false;
    throw error;
  }
}

async function isStale(lockFile: string, staleAfterMs: number): Promise<boolean> {
  try {
    const [holder, { mtimeMs }] = await Promise.all([readFile(lockFile, "utf8"), stat(lockFile)]);
    if (Date.now() - mtimeMs > staleAfterMs) return true;
    const [, pid, place] = /^(\d+) (.+)$/s.exec(holder) ?? [];
    return place === describePlace() && !isAlive(Number(pid));
  } catch (error) {
    if (hasCode(error, "ENOENT")) return false;
    throw error;
  }
}

/** Where a process id means the same process as here: a PID namespace of one run of a Linux, else a host. */
function describePlace(): string {
  try {
    return `${readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()} ${readlinkSync("/proc/self/ns/pid")}`;
  } catch {
    return hostname();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !hasCode(error, "ESRCH");
  }
}

/**
 * Of several processes that see the same stale lock, one at a time may remove it, and it checks again first: a
 * faster process may have put its own lock there.
 */
async function removeStale(lockFile: string, staleAfterMs: number): Promise<void> {
  const turn = `${lockFile}.stale`;
  if (!(await createLock(turn))) {
    // Left by a crash within the few lines below.
    if (await isStale(turn, staleAfterMs)) await removeIfThere(turn);
    await delay(RETRY_MS);
    return;
  }
  try {
    if (await isStale(lockFile, staleAfterMs)) await removeIfThere(lockFile);
  } finally {
    await removeIfThere(turn);
  }
}

async function removeIfThere(path: string): Promise<void> {
  try {
    await unlink(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
  }
}
