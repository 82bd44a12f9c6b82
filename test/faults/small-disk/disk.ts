import { spawnSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";

/** The small file system of this process. */
export interface SmallDisk {
  readonly folder: string;
  /** Takes every byte that is left. */
  fill(): void;
  /** Gives back what {@link SmallDisk.fill} took. */
  free(): void;
  /** Makes it read-only, or writable again. */
  setReadOnly(isReadOnly: boolean): void;
}

const MOUNT = "mount";

/** The file system mounted on `folder`. */
export function useSmallDisk(folder: string): SmallDisk {
  const filler = join(folder, "filler");
  return {
    folder,
    fill() {
      const file = openSync(filler, "a");
      try {
        for (const size of [1 << 20, 4096, 1]) writeUntilFull(file, Buffer.alloc(size));
      } finally {
        closeSync(file);
      }
    },
    free: () => rmSync(filler, { force: true }),
    setReadOnly(isReadOnly) {
      const { status } = spawnSync(MOUNT, ["-o", `remount,bind,${isReadOnly ? "ro" : "rw"}`, folder]);
      if (status !== 0) throw new Error("The file system could not be mounted again.");
    },
  };
}

function writeUntilFull(file: number, bytes: Buffer): void {
  try {
    for (;;) writeSync(file, bytes);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}
