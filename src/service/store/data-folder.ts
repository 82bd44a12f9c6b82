import { access, chmod, constants, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join, parse } from "node:path";
import { z } from "zod";
import { makeFolders, renameFile } from "../../shared/base/disk.ts";
import { parseJson } from "../../shared/base/json.ts";
import { isSvcError, SvcError } from "../../shared/errors.ts";
import type { ServiceLog } from "../service-error.ts";
import { openSqlite } from "./open-sqlite.ts";

/** The SQLite file below the data folder. */
export const STORE_FILE = "svc.db";
const LOCK_FILE = "lock.db";
/** Milliseconds to wait for the lock: longer than {@link readServingUrl} holds it to look. */
const LOCK_WAIT_MS = 250;
const OWNER_FILE = "serving.json";

/** Who serves a data folder now, readable by that folder's owner; the base URL is absent until the port is open. */
const ownerSchema = z.object({ pid: z.number(), url: z.string().optional(), startedAt: z.string() });
type FolderOwner = z.infer<typeof ownerSchema>;

/**
 * Makes the folder (0700) if needed, or takes the rights of others on it, and takes its single-writer lock. A folder on
 * which others keep their rights is used and logged as a warning.
 *
 * The lock is an exclusive SQLite transaction held for the life of the process, so the operating system
 * frees it when the process dies by any cause; nothing has to guess whether a lock is stale.
 *
 * @throws SvcError `invalid_config`, field `dataDir`: not writable, or served by another process (its pid is named).
 */
export async function claimDataFolder(path: string, { startedAt, log }: { startedAt: string; log: ServiceLog }) {
  const uid = process.getuid?.();
  await makeFolder(path, uid);
  const reason = await closeFolder(path, uid);
  if (reason !== undefined) {
    const risk = `Other users may reach the data folder ${path}, where keys, mails and files lie: ${reason}.`;
    log({ level: "warn", message: `${risk} Make this user its owner (chown), or choose a folder that it owns.` });
  }
  const lock = await takeLock(path);
  const ownerFile = join(path, OWNER_FILE);
  const publish = async (owner: FolderOwner) => {
    const draft = `${ownerFile}.${process.pid}`;
    await writeFile(draft, `${JSON.stringify(owner)}\n`, { mode: 0o600 });
    await renameFile(draft, ownerFile);
  };
  try {
    await publish({ pid: process.pid, startedAt });
  } catch (error) {
    lock.close();
    throw error;
  }
  return {
    path,
    /** Publishes the base URL for {@link readServingUrl}. */
    announce: (url: string) => publish({ pid: process.pid, url, startedAt }),
    /** Gives the folder back. */
    async release(): Promise<void> {
      // Readers ignore the file unless the lock is held.
      await rm(ownerFile, { force: true }).finally(() => lock.close());
    },
  };
}

/**
 * Base URL of the process that serves this data folder.
 *
 * @throws SvcError `invalid_config` when nobody does.
 */
export async function readServingUrl(path: string): Promise<string> {
  const isFolder = await stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
  const owner = isFolder && (await isServed(path)) ? await readOwner(path) : undefined;
  if (owner?.url !== undefined) return owner.url;
  throw new SvcError("invalid_config", `No service is running on the data folder ${path}.`, {
    field: "dataDir",
    hint: "Start it with `svc serve` on the same data folder.",
  });
}

async function makeFolder(path: string, uid: number | undefined): Promise<void> {
  try {
    const isNew = await makeFolders(path);
    // mkdir applies the umask, and an own folder must not be wider or narrower than 0700.
    if (isNew) await chmod(path, 0o700);
    await access(path, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (cause) {
    throw new SvcError("invalid_config", `The data folder ${path} cannot be created or written to.`, {
      field: "dataDir",
      hint: `Choose a folder that this user${uid === undefined ? "" : ` (${uid})`} owns, or make it the owner: chown.`,
      cause,
    });
  }
}

async function takeLock(path: string): Promise<{ close(): void }> {
  const lock = openSqlite(join(path, LOCK_FILE), { timeout: LOCK_WAIT_MS });
  try {
    // Nothing is ever written: a journal beside it would only be another file that others may read.
    lock.exec("PRAGMA journal_mode=MEMORY; BEGIN EXCLUSIVE");
  } catch (cause) {
    lock.close();
    const owner = await readOwner(path);
    const who = owner === undefined ? "another process" : `process ${owner.pid} (since ${owner.startedAt})`;
    throw new SvcError("invalid_config", `The data folder ${path} is already served by ${who}.`, {
      field: "dataDir",
      hint: "Use the service that is running, stop that process first, or choose another data folder.",
      cause,
    });
  }
  try {
    await chmod(join(path, LOCK_FILE), 0o600);
  } catch (error) {
    lock.close();
    throw error;
  }
  return lock;
}

/** Whether a process serves this data folder, which must exist. */
export async function isServed(path: string): Promise<boolean> {
  try {
    (await takeLock(path)).close();
    return false;
  } catch (error) {
    if (isSvcError(error)) return true;
    throw error;
  }
}

async function readOwner(path: string): Promise<FolderOwner | undefined> {
  const owner = parseJson(await readFile(join(path, OWNER_FILE), "utf8").catch(() => ""));
  return ownerSchema.safeParse(owner).data;
}

const OTHERS = 0o077;
const STICKY = 0o1000;

/**
 * Takes every right on a folder from its group and from others. Answers why they keep theirs when they do: such a folder
 * works too, and the volume of a container can often be neither changed nor exchanged by who runs in it.
 *
 * @param uid the user of this process; undefined on Windows, which has no modes: nothing is done there
 */
export async function closeFolder(path: string, uid: number | undefined): Promise<string | undefined> {
  if (uid === undefined) return undefined;
  const { mode, uid: owner } = await stat(path);
  if ((mode & OTHERS) === 0) return undefined;
  if (owner !== uid) return `it belongs to user ${owner}, and this process is user ${uid}`;
  // The rights of /tmp or / are not to be taken from a whole machine.
  if ((mode & STICKY) !== 0 || path === parse(path).root) return "it is a folder that all users share";
  const isChanged = await chmod(path, mode & ~OTHERS & 0o7777).then(
    () => true,
    () => false,
  );
  // Some file systems take the change and keep the mode of their mount.
  if (isChanged && ((await stat(path)).mode & OTHERS) === 0) return undefined;
  return "its file system does not let this process change that";
}
