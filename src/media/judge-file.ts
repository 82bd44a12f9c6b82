import type { BigIntStats } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { MAX_FILE_BYTES } from "../wire/limits.ts";
import type { MediaRefusalCode } from "./media-refusal.ts";

/** A regular file with one name, opened for reading, or the reason against it. */
export type OpenedFile =
  | { readonly handle: FileHandle; readonly stats: BigIntStats }
  | { readonly refused: MediaRefusalCode };

/** Judges what a descriptor points at; undefined when it may be read. */
export function judgeStats(stats: BigIntStats): MediaRefusalCode | undefined {
  if (stats.isSymbolicLink()) return "symlink";
  if (stats.isDirectory()) return "is_directory";
  if (!stats.isFile()) return "not_regular";
  if (stats.nlink === 0n) return "not_found";
  if (stats.nlink !== 1n) return "hardlink";
  if (stats.size === 0n) return "empty_file";
  return stats.size > BigInt(MAX_FILE_BYTES) ? "too_large" : undefined;
}

/** Turns an error of a file system call into the code a person can act on. */
export function judgeOpenError(error: unknown): MediaRefusalCode {
  switch (error instanceof Error && "code" in error ? error.code : undefined) {
    case "ENOENT":
    case "ENOTDIR":
      return "not_found";
    case "ELOOP":
      return "symlink";
    case "ENAMETOOLONG":
      return "name_too_long";
    case "ENXIO":
    case "ENODEV":
      return "not_regular";
    default:
      return "unreadable";
  }
}
