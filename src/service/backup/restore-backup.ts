import { mkdir, readdir, readFile, rm, rmdir } from "node:fs/promises";
import { join, posix, resolve, win32 } from "node:path";
import { renameFile } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { isServed, STORE_FILE } from "../store/data-folder.ts";
import { openSqlite } from "../store/open-sqlite.ts";
import { type BackupFacts, countFiles, FACTS_FILE, factsSchema, hashFile } from "./archive.ts";
import { type BackupPowers, describePowers } from "./describe-backup.ts";
import { LEFT_OUT } from "./make-backup.ts";
import { unpackBackup } from "./unpack-backup.ts";

/** A backup that was looked at; whoever made it may have put anything into it. */
type CheckedBackup = BackupFacts & { readonly powers: BackupPowers };

/** A backup that a data folder was made of. */
export interface RestoredBackup extends CheckedBackup {
  /** Where the folder that was there before is now. */
  readonly moved?: string;
}

/**
 * Makes a data folder of a backup. It is unpacked beside `dataDir` and checked; only then does it take its place.
 *
 * @param replace moves a folder with content out of the way, to `<dataDir>.before-<time>`; otherwise it is refused
 * @throws SvcError `invalid_config`: field `file` for what is no backup, or a damaged one; field `dataDir` while a
 *   service runs on it, or when it has content
 */
export async function restoreBackup(o: {
  readonly file: string;
  readonly dataDir: string;
  readonly now: number;
  readonly replace: boolean;
}): Promise<RestoredBackup> {
  const dataDir = resolve(o.dataDir);
  const names = await readdir(dataDir).catch(() => []);
  if (names.length > 0 && (await isServed(dataDir))) {
    throw refuseFolder(`A service runs on ${dataDir}.`, "Stop it first, or name another folder with --data.");
  }
  if (names.length > 0 && !o.replace) {
    throw refuseFolder(`${dataDir} has content.`, "Give --replace to move it out of the way, or name another folder.");
  }
  const unpacked = `${dataDir}.restoring`;
  await mkdir(unpacked, { recursive: true, mode: 0o700 }).catch(refusePlace(dataDir));
  return withUnpacked(o.file, unpacked, async (folder, facts) => {
    moveFolders(join(folder, STORE_FILE), facts.dataDir, dataDir);
    await rm(join(folder, FACTS_FILE));
    const moved = `${dataDir}.before-${new Date(o.now).toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
    if (names.length > 0) await renameFile(dataDir, moved).catch(refusePlace(dataDir));
    // Windows renames no folder over an empty one.
    else await rmdir(dataDir).catch(() => undefined);
    await renameFile(folder, dataDir).catch(refusePlace(dataDir));
    return { ...facts, ...(names.length > 0 ? { moved } : {}) };
  });
}

/** Checks a backup as {@link restoreBackup} does, in a new folder below `scratch`, and changes nothing. */
export function checkBackup(file: string, scratch: string): Promise<CheckedBackup> {
  return withUnpacked(file, join(scratch, `svc-backup-check-${process.pid}`), async (_folder, facts) => facts);
}

async function withUnpacked<T>(
  file: string,
  folder: string,
  work: (folder: string, facts: CheckedBackup) => Promise<T>,
): Promise<T> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const problem = await unpackBackup(file, folder);
    if (problem !== undefined) throw refuseBackup(file, problem);
    return await work(folder, await checkFolder(folder, file));
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw refuseBackup(file, "was not found", error);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws SvcError `invalid_config`, field `file`, for anything but a whole backup */
async function checkFolder(folder: string, file: string): Promise<CheckedBackup> {
  const foreign = (await readdir(folder)).find((name) => name !== STORE_FILE && LEFT_OUT.test(name));
  if (foreign !== undefined) throw refuseBackup(file, `holds ${foreign}, which no backup of svc does`);
  const text = await readFile(join(folder, FACTS_FILE), "utf8").catch(() => "");
  const facts = factsSchema.safeParse(parseJson(text));
  if (!facts.success) throw refuseBackup(file, "is not a backup of svc");
  const database = join(folder, STORE_FILE);
  const isWhole =
    (await hashFile(database).catch(() => "")) === facts.data.database &&
    (await countFiles(folder)) === facts.data.files + 1 &&
    isSound(database);
  if (!isWhole) throw refuseBackup(file, "is damaged: it does not hold what it held when it was made");
  return { ...facts.data, powers: describePowers(database) };
}

function isSound(file: string): boolean {
  const database = openSqlite(file);
  try {
    return database
      .prepare("PRAGMA integrity_check")
      .all()
      .every((row) => row.integrity_check === "ok");
  } finally {
    database.close();
  }
}

/** Connections name folders by absolute paths; those in the data folder move with it, also to another system. */
function moveFolders(file: string, from: string, to: string): void {
  if (from === to) return;
  const database = openSqlite(file);
  try {
    const change = database.prepare("UPDATE connections SET settings = ? WHERE id = ?");
    for (const { id, settings } of database.prepare("SELECT id, settings FROM connections").all()) {
      const known = parseJson(String(settings));
      if (!isRecord(known)) continue;
      const moved = Object.entries(known).map(([name, value]) => [name, movePath(value, from, to)]);
      change.run(JSON.stringify(Object.fromEntries(moved)), String(id));
    }
  } finally {
    database.close();
  }
}

/** `value` below `to` where it is a path below `from`, whichever system `from` is of; any other value as it is. */
export function movePath(value: unknown, from: string, to: string): unknown {
  if (typeof value !== "string" || !value.startsWith(from)) return value;
  const rest = value.slice(from.length);
  const separators = win32.isAbsolute(from) && !posix.isAbsolute(from) ? /[\\/]/ : /\//;
  return rest === "" || separators.test(rest.charAt(0)) ? join(to, ...rest.split(separators)) : value;
}

function refuseFolder(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "dataDir", hint });
}

/** A mounted volume cannot be moved, and often nothing can be made beside it. */
const refusePlace = (dataDir: string) => (cause: unknown) => {
  const message = `${dataDir} cannot be exchanged: nothing can be made beside it, or a volume is mounted there.`;
  const hint = "Run it as root, or name a folder inside it with --data and serve that one.";
  throw new SvcError("invalid_config", message, { field: "dataDir", hint, cause });
};

function refuseBackup(file: string, problem: string, cause?: unknown): SvcError {
  const hint = 'Name a file that "svc backup" wrote.';
  return new SvcError("invalid_config", `${file} ${problem}.`, { field: "file", hint, cause });
}
