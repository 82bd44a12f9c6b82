import { existsSync, mkdirSync } from "node:fs";
import { readdir, rename, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { createId } from "../../auth/secrets.ts";
import { openSqlite } from "../../store/open-store.ts";

/** Lies in the data folder; the operating system frees its locks when a process dies. */
const LOCK_FILE = "pieces.lock";
/** Milliseconds that an installation waits for a tidying process. */
const HOLD_WAIT_MS = 30_000;

/** Where the pieces of a data folder are installed, each at `<slug>/<version>`. */
export function placeOfPieces(dataDir: string): string {
  return join(dataDir, "pieces");
}

/** Keeps everything that is installed, until the result is called: what is being added is in no store yet. */
export function holdPieces(dataDir: string): () => void {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = openSqlite(join(dataDir, LOCK_FILE), HOLD_WAIT_MS);
  try {
    // A shared lock: several can install at a time.
    lock.exec("begin; select count(*) from sqlite_master");
  } catch (error) {
    lock.close();
    throw error;
  }
  return () => lock.close();
}

/**
 * Removes every installed piece that no app refers to, and what a process left that died while it installed or removed one.
 * The caller makes sure that none of them runs in its own process.
 *
 * @param listUsed folders that apps refer to, below the data folder, with `/`
 * @returns false when nothing was looked at because a piece is being installed now
 */
export async function sweepPieces(dataDir: string, listUsed: () => Promise<readonly string[]>): Promise<boolean> {
  const pieces = placeOfPieces(dataDir);
  if (!existsSync(pieces)) return true;
  const lock = openSqlite(join(dataDir, LOCK_FILE), 0);
  try {
    lock.exec("begin exclusive");
  } catch {
    lock.close();
    return false;
  }
  try {
    const used = new Set(await listUsed());
    for (const slug of await listFolders(pieces)) {
      for (const version of await listFolders(join(pieces, slug))) {
        if (!used.has(`pieces/${slug}/${version}`)) await removePiece(join(pieces, slug, version));
      }
      await removeIfEmpty(join(pieces, slug));
    }
    return true;
  } finally {
    lock.close();
  }
}

/** Removes one installed piece: wholly, or so that it is not taken for one. */
export async function removePiece(path: string): Promise<void> {
  const gone = join(dirname(path), createId("gone"));
  const moved = await rename(path, gone).then(
    () => gone,
    () => path,
  );
  await rm(moved, { recursive: true, force: true });
}

/** Removes a folder that nothing is in. */
export async function removeIfEmpty(folder: string): Promise<void> {
  await rmdir(folder).catch(() => {});
}

async function listFolders(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
}
