import { existsSync } from "node:fs";
import {
  constants,
  copyFile,
  link,
  mkdir,
  open,
  readdir,
  readlink,
  rename,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { join, resolve } from "node:path";
import { pipeline } from "node:stream/promises";
import { hasCode } from "../../base/disk.ts";
import { SvcError } from "../../errors.ts";
import { STORE_FILE } from "../store/data-folder.ts";
import { openSqlite } from "../store/open-sqlite.ts";
import { type BackupFacts, countFiles, FACTS_FILE, hashFile, runTar } from "./archive.ts";

/** Where a backup is put together, below the data folder: links to a file need its file system. */
const DRAFT = ".backup";
/** Of the running process, or kept as a copy that is whole in itself; with what SQLite puts beside its files. */
const LEFT_OUT = /^(?:(?:svc|lock)\.db(?:-wal|-shm|-journal)?|serving\.json.*|\.backup)$/;

export interface MadeBackup extends BackupFacts {
  readonly file: string;
  /** Size of the file. */
  readonly bytes: number;
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
    const facts = await fillDraft(draft, { dataDir, now: o.now });
    const bytes = await writeArchive(draft, file);
    return { ...facts, file, bytes };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function fillDraft(draft: string, { dataDir, now }: { dataDir: string; now: number }): Promise<BackupFacts> {
  const copy = join(draft, STORE_FILE);
  // SQLite takes an empty file, and would make one that others may read.
  await writeFile(copy, "", { mode: 0o600 });
  const database = openSqlite(join(dataDir, STORE_FILE));
  try {
    database.prepare("VACUUM INTO ?").run(copy);
  } finally {
    database.close();
  }
  await linkFolder(dataDir, draft, (name) => !LEFT_OUT.test(name));
  const facts: BackupFacts = {
    format: 1,
    createdAt: new Date(now).toISOString(),
    dataDir,
    database: await hashFile(copy),
    files: await countFiles(draft),
  };
  await writeFile(join(draft, FACTS_FILE), `${JSON.stringify(facts, undefined, 2)}\n`, { mode: 0o600 });
  return facts;
}

/** Makes every file of a folder appear in another one too, without a copy where the file system can link. */
async function linkFolder(from: string, to: string, isWanted: (name: string) => boolean = () => true): Promise<void> {
  for (const entry of await readdir(from, { withFileTypes: true })) {
    if (!isWanted(entry.name)) continue;
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    try {
      if (entry.isDirectory()) {
        await mkdir(target, { mode: (await stat(source)).mode & 0o777 });
        await linkFolder(source, target);
      } else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
      else if (entry.isFile()) {
        await link(source, target).catch(() => copyFile(source, target, constants.COPYFILE_FICLONE));
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
    await rename(draft, file);
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
