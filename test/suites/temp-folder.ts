import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants, mkdirSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const MEMORY = "/dev/shm";
/** What `statfs` calls a file system in memory on Linux. */
const TMPFS = 0x01_02_19_94;
/** A run needs some hundred megabytes; containers often have 64. */
const NEEDED_BYTES = 4 * 1024 ** 3;

/**
 * Variables that put the temporary files of tests into memory where it has room, as every start of a service and every
 * write wait for the disk: no test can tell whether they did. An own `TMPDIR` holds. Everything in the folder, also what
 * killed processes left there, is removed when this process ends.
 */
export function keepTempFilesInMemory(): { TMPDIR?: string } {
  if (process.platform !== "linux" || process.env.TMPDIR !== undefined) return {};
  // Remembered here, as the configuration is loaded anew for every project.
  process.env.SVC_TEST_MEMORY ??= makeFolder();
  return { TMPDIR: process.env.SVC_TEST_MEMORY };
}

/** A folder in memory; on the disk where memory has no room or runs no programs. */
function makeFolder(): string {
  // In hex: no host takes the name for a key or a password, and masks it.
  const folder = join(hasRoom() ? MEMORY : tmpdir(), `svc-${randomBytes(4).toString("hex")}`);
  mkdirSync(folder, { mode: 0o700 });
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  // As open as /tmp: servers of some tests run as users of their own.
  chmodSync(folder, 0o1777);
  return runsPrograms(folder) ? folder : tmpdir();
}

function hasRoom(): boolean {
  try {
    accessSync(MEMORY, constants.W_OK);
    const { type, bavail, bsize } = statfsSync(MEMORY);
    return type === TMPFS && bavail * bsize >= NEEDED_BYTES;
  } catch {
    return false;
  }
}

function runsPrograms(folder: string): boolean {
  const program = join(folder, "program");
  writeFileSync(program, "", { mode: 0o700 });
  try {
    accessSync(program, constants.X_OK);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(program);
  }
}
