import { createReadStream } from "node:fs";
import { chmod, mkdir, readdir, readFile, rename, rm } from "node:fs/promises";
import { join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { hasCode } from "../../base/disk.ts";
import { isRecord, parseJson } from "../../base/json.ts";
import { SvcError } from "../../errors.ts";
import { isServed, STORE_FILE } from "../store/data-folder.ts";
import { openSqlite } from "../store/open-sqlite.ts";
import { type BackupFacts, countFiles, FACTS_FILE, factsSchema, hashFile, runTar } from "./archive.ts";

export interface RestoredBackup extends BackupFacts {
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
    if (names.length > 0) await rename(dataDir, moved).catch(refusePlace(dataDir));
    await rename(folder, dataDir).catch(refusePlace(dataDir));
    return { ...facts, ...(names.length > 0 ? { moved } : {}) };
  });
}

/** Checks a backup as {@link restoreBackup} does, in a new folder below `scratch`, and changes nothing. */
export function checkBackup(file: string, scratch: string): Promise<BackupFacts> {
  return withUnpacked(file, join(scratch, `svc-backup-check-${process.pid}`), async (_folder, facts) => facts);
}

async function withUnpacked<T>(
  file: string,
  folder: string,
  work: (folder: string, facts: BackupFacts) => Promise<T>,
): Promise<T> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const unpack = (source: NodeJS.ReadableStream) => (tar: { readonly stdin: NodeJS.WritableStream }) =>
      pipeline(source, tar.stdin);
    await runTar(["-xzf", "-", "-C", folder], unpack(createReadStream(file)));
    await chmod(folder, 0o700);
    return await work(folder, await checkFolder(folder, file));
  } catch (error) {
    if (hasCode(error, "ENOENT")) throw refuseBackup(file, "was not found", error);
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** @throws SvcError `invalid_config`, field `file`, for anything but a whole backup */
async function checkFolder(folder: string, file: string): Promise<BackupFacts> {
  const text = await readFile(join(folder, FACTS_FILE), "utf8").catch(() => "");
  const facts = factsSchema.safeParse(parseJson(text));
  if (!facts.success) throw refuseBackup(file, "is not a backup of svc");
  const database = join(folder, STORE_FILE);
  const isWhole =
    (await hashFile(database).catch(() => "")) === facts.data.database &&
    (await countFiles(folder)) === facts.data.files + 1 &&
    isSound(database);
  if (!isWhole) throw refuseBackup(file, "is damaged: it does not hold what it held when it was made");
  return facts.data;
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

/** Connections name folders by absolute paths; those in the data folder move with it. */
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

function movePath(value: unknown, from: string, to: string): unknown {
  return typeof value === "string" && `${value}${sep}`.startsWith(`${from}${sep}`)
    ? join(to, relative(from, value))
    : value;
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
