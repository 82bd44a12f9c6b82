import { existsSync } from "node:fs";
import { constants, copyFile, mkdir, open, readdir, rm, stat, writeFile } from "node:fs/promises";
import { isAbsolute, join, relative, resolve, sep } from "node:path";
import { pipeline } from "node:stream/promises";
import { linkFile, renameFile } from "../../shared/base/disk.ts";
import { hasCode } from "../../shared/base/error-code.ts";
import { isRecord, parseJson } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import { STORE_FILE } from "../store/data-folder.ts";
import { openSqlite } from "../store/open-sqlite.ts";
import { type BackupFacts, countFiles, FACTS_FILE, hashFile, runTar } from "./archive.ts";
import { isPlainName } from "./unpack-backup.ts";

/** Where a backup is put together, below the data folder: links to a file need its file system. */
const DRAFT = ".backup";
/** Of the running process, or kept as a copy that is whole in itself; with what SQLite puts beside its files. */
export const LEFT_OUT = /^(?:(?:svc|lock)\.db(?:-wal|-shm|-journal)?|serving\.json.*|\.backup)$/;

/** A backup that was written, and the data that is not in it. */
export interface MadeBackup extends BackupFacts {
  /** Absolute path. */
  readonly file: string;
  /** Size of the file. */
  readonly bytes: number;
  /** Paths of links and other things that are neither folders nor plain files: they are not in it. */
  readonly leftOut: readonly string[];
  /** Folders of connections that lie outside of the data folder, and are not in it either. */
  readonly elsewhere: readonly { readonly folder: string; readonly connection: string }[];
}

/**
 * Writes a data folder to one file (tar, gzip; mode 0600), also while its service runs: the database as it was at one
 * moment, then the other files. Nothing is in `file` before it is whole.
 *
 * @throws SvcError `invalid_config`: field `dataDir` when no SQLite database is there; field `file` when the file
 *   exists or cannot be written; when `tar` is missing or fails
 */
export async function makeBackup(o: { dataDir: string; file: string; now: number }): Promise<MadeBackup> {
  const [dataDir, file] = [resolve(o.dataDir), resolve(o.file)];
  if (!existsSync(join(dataDir, STORE_FILE))) throw refuseFolder(dataDir);
  if (existsSync(file)) throw refuseFile(file, "exists already");
  const draft = join(dataDir, DRAFT);
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { mode: 0o700 });
  try {
    const { facts, leftOut } = await fillDraft(draft, { dataDir, now: o.now });
    const elsewhere = listElsewhere(join(draft, STORE_FILE), dataDir);
    const bytes = await writeArchive(draft, file);
    return { ...facts, file, bytes, leftOut, elsewhere };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fillDraft(draft: string, { dataDir, now }: { dataDir: string; now: number }) {
  const copy = join(draft, STORE_FILE);
  // SQLite takes an empty file, and would make one that others may read.
  await writeFile(copy, "", { mode: 0o600 });
  const database = openSqlite(join(dataDir, STORE_FILE));
  try {
    database.prepare("VACUUM INTO ?").run(copy);
  } finally {
    database.close();
  }
  const leftOut: string[] = [];
  await linkFolder(dataDir, draft, { leftOut, isWanted: (name) => !LEFT_OUT.test(name) });
  const facts: BackupFacts = {
    format: 1,
    createdAt: new Date(now).toISOString(),
    dataDir,
    database: await hashFile(copy),
    files: await countFiles(draft),
  };
  await writeFile(join(draft, FACTS_FILE), `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 });
  return { facts, leftOut };
}

/** Settings of connections that name a folder of this machine. */
const FOLDER_SETTINGS = ["folder", "maildir"];

function listElsewhere(file: string, dataDir: string): MadeBackup["elsewhere"] {
  const database = openSqlite(file);
  try {
    const rows = database.prepare("SELECT label, settings FROM connections ORDER BY created_at").all();
    return rows.flatMap(({ label, settings }) => {
      const known = parseJson(String(settings));
      const folders = FOLDER_SETTINGS.map((name) => (isRecord(known) ? known[name] : undefined));
      const outside = folders.filter((one) => typeof one === "string").filter((one) => !isBelow(one, dataDir));
      return outside.map((folder) => ({ folder, connection: String(label) }));
    });
  } finally {
    database.close();
  }
}

function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** Makes every plain file of a folder appear in another one too, without a copy where the file system can link. */
async function linkFolder(
  from: string,
  to: string,
  { leftOut, isWanted = () => true }: { leftOut: string[]; isWanted?: (name: string) => boolean },
): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (!isPlainName(entry.name) || !(entry.isDirectory() || entry.isFile())) leftOut.push(source);
      else if (entry.isDirectory()) {
        await mkdir(target, { mode: 0o700 });
        await linkFolder(source, target, { leftOut });
      } else {
        // Two names of one file would be a link in the archive.
        const mayLink = (await stat(source)).nlink === 1;
        if (!(mayLink && (await linkFile(source, target)))) await copyFile(source, target, constants.COPYFILE_FICLONE);
      }
    } catch (error) {
      // What a running service removed meanwhile belongs to nothing any more.
      if (!hasCode(error, "ENOENT")) throw error;
    }
  }
}

/** Returns the size of the file in bytes. */
async function writeArchive(folder: string, file: string): Promise<number> {
  const draft = `${file}.partial`;
  try {
    const target = await open(draft, "w", 0o600);
    // The mode counts for a new file only.
    await target.chmod(0o600);
    const stream = target.createWriteStream({ flush: true });
    await runTar(["-czf", "-", "-C", folder, "."], (tar) => pipeline(tar.stdout, stream));
    await renameFile(draft, file);
    return (await stat(file)).size;
  } catch (error) {
    await rm(draft, { force: true });
    if (hasCode(error, "ENOENT") || hasCode(error, "EACCES") || hasCode(error, "EROFS")) {
      throw refuseFile(file, "cannot be written", error);
    }
    throw error;
  }
}

function refuseFolder(dataDir: string): SvcError {
  return new SvcError("invalid_config", `There is no database of a service in ${dataDir}.`, {
    field: "dataDir",
    hint: "Name the service's folder with --data. A service on PostgreSQL is backed up with pg_dump, together with its folder.",
  });
}

function refuseFile(file: string, problem: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `${file} ${problem}.`, { field: "file", hint: "Name another file.", cause });
}
