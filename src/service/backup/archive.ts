import { type ChildProcessByStdio, execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readdir } from "node:fs/promises";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { z } from "zod";
import { errorCode } from "../../shared/base/error-code.ts";
import { SvcError } from "../../shared/errors.ts";

/** The file of a backup that describes it. */
export const FACTS_FILE = "backup.json";

/** What {@link FACTS_FILE} holds. */
export const factsSchema = z.looseObject({
  format: z.literal(1),
  /** ISO time. */
  createdAt: z.string(),
  /** Absolute path of the data folder. */
  dataDir: z.string(),
  /** SHA-256 of the database file, in hex. */
  database: z.string(),
  /** Files besides this one. */
  files: z.number(),
});
export type BackupFacts = z.infer<typeof factsSchema>;

type Tar = ChildProcessByStdio<Writable, Readable, Readable>;

/** With this, GNU tar alone tells that a file changed while it was read: what it read is in the archive, and it goes on. */
const CHANGED_MEANWHILE = 1;

/**
 * Runs the system's `tar`; `connect` reads or writes what it works on.
 *
 * @throws SvcError `invalid_config` when there is no `tar` or it fails, with its own words
 */
export async function runTar(args: readonly string[], connect: (tar: Tar) => Promise<unknown>): Promise<void> {
  const tar: Tar = spawn("tar", args, { stdio: ["pipe", "pipe", "pipe"] });
  const ended = new Promise<number | null>((resolve, reject) => tar.once("error", reject).once("close", resolve));
  const [code, words, connected] = await Promise.allSettled([ended, text(tar.stderr), connect(tar)]);
  if (code.status === "rejected") {
    const message = `The program tar cannot be started (${errorCode(code.reason) ?? "unknown"}).`;
    throw new SvcError("invalid_config", message, { hint: "Install it, then run this again.", cause: code.reason });
  }
  const lines = words.status === "fulfilled" ? words.value.split("\n").filter((line) => line !== "") : [];
  const isWhole = code.value === 0 || (code.value === CHANGED_MEANWHILE && (await isGnuTar()));
  if (isWhole && connected.status === "fulfilled") return;
  const why = lines[0] ?? (connected.status === "rejected" ? String(connected.reason) : `exit code ${code.value}`);
  const hint = "Check that the backup is a whole file and that the disk has room.";
  throw new SvcError("invalid_config", `tar failed: ${why}.`, { field: "file", hint });
}

async function isGnuTar(): Promise<boolean> {
  const { stdout } = await promisify(execFile)("tar", ["--version"]);
  return stdout.includes("GNU tar");
}

/** SHA-256 of a file, in hex. */
export async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Number of files below a folder. */
export async function countFiles(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).length;
}
