import { randomBytes } from "node:crypto";
import { closeSync, constants, existsSync, open as openDescriptor, type Stats } from "node:fs";
import { type FileHandle, lstat, mkdir, open, readdir, realpath, rm, rmdir } from "node:fs/promises";
import { join, sep } from "node:path";
import { promisify } from "node:util";
import { flushFolder, UNFLUSHED } from "../../shared/base/disk.ts";
import { errorCode, hasCode } from "../../shared/base/error-code.ts";
import { isReservedOnWindows } from "../../shared/base/windows-names.ts";
import { refuseSetting, refuseUnavailable, refuseValue } from "../service-error.ts";

/** Names that begin so are unfinished writes; listings leave them out. */
export const UNFINISHED_PREFIX = ".svc-unfinished-";

/** The folder of a connection may be reached through links. */
const OPEN_ROOT = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0);
const OPEN_FOLDER = OPEN_ROOT | (constants.O_NOFOLLOW ?? 0);
/** Here an open descriptor has a path of its own, so that nothing above it can be swapped under us. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync("/proc/self/fd");

/** An open folder. Its entries are reached through the descriptor, not through the path it once had. */
export interface Folder {
  /**
   * Path of the entry `name`, valid while the folder is open. `name` is one component that was checked before. Throws `EINVAL`
   * for a name that Windows reads as another one, on Windows.
   */
  at(name: string): string;
  /** Path of the folder itself, valid while it is open. */
  readonly self: string;
  /** Waits until the disk holds the folder's entries; see {@link flushFolder}. */
  flush(): Promise<void>;
}

/** Windows would read the name as a device, a stream of another file or a file of another name. Throws `EINVAL`. */
export function checkDiskName(name: string, platform: NodeJS.Platform = process.platform): void {
  if (platform === "win32" && isReservedOnWindows(name)) throw refuseName();
}

function refuseName(): Error {
  return Object.assign(new Error("is no name on this disk"), { code: "EINVAL" });
}

/** `ENOENT` of a new name where all that it needs, `source`, is there: exFAT's word for a name that it cannot hold. */
export async function explainName(error: unknown, source: string): Promise<unknown> {
  if (!hasCode(error, "ENOENT")) return error;
  const isThere = await lstat(source).then(
    () => true,
    () => false,
  );
  return isThere ? refuseName() : error;
}

const ENDING = /[. ]+$/;

/** Some disks drop dots and blanks at the end of a name, and would make a file of another name. Throws `EINVAL` there. */
export async function checkEnding(folder: Folder, name: string): Promise<void> {
  const ending = ENDING.exec(name)?.[0];
  if (ending === undefined) return;
  const probe = `${UNFINISHED_PREFIX}${randomBytes(8).toString("hex")}${ending}`;
  await (await open(folder.at(probe), "wx", 0o600)).close();
  try {
    if (!(await readdir(folder.self)).includes(probe)) throw refuseName();
  } finally {
    await rm(folder.at(probe), { force: true });
  }
}

const openAt = promisify(openDescriptor);

class OpenFolder implements Folder {
  readonly #descriptor: number;
  readonly self: string;

  private constructor(descriptor: number, path: string) {
    this.#descriptor = descriptor;
    this.self = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${descriptor}` : path;
  }

  /** `path` is where the folder will be known to be. */
  static async open(place: string, flags: number, path = place): Promise<OpenFolder> {
    return new OpenFolder(await openAt(place, flags), path);
  }

  at(name: string): string {
    checkDiskName(name);
    return join(this.self, name);
  }

  async flush(): Promise<void> {
    await flushFolder(this.#descriptor);
  }

  /** At once: of a folder nothing is left to be written then, and another thread costs more than the rest of a small list. */
  close(): void {
    closeSync(this.#descriptor);
  }
}

async function openRoot(path: string, setting: string): Promise<{ folder: OpenFolder; path: string }> {
  try {
    // With descriptor paths nobody asks later where the folder really is.
    if (HAS_DESCRIPTOR_PATHS) return { folder: await OpenFolder.open(path, OPEN_ROOT), path };
    const real = await realpath(path);
    return { folder: await OpenFolder.open(real, OPEN_FOLDER), path: real };
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT")
      throw refuseUnavailable(
        `The folder in setting "${setting}" of this connection is not there.`,
        "Create the folder or connect its disk, then repeat the call.",
        error,
      );
    if (code === "ENOTDIR") throw refuseSetting(setting, "names something that is not a folder.", error);
    throw error;
  }
}

/** Without descriptor paths the best that can be done: the opened place is still where its name says. */
async function checkPlace(path: string, root: string): Promise<void> {
  if (HAS_DESCRIPTOR_PATHS) return;
  const real = await realpath(path);
  if (real !== root && !real.startsWith(root + sep))
    throw Object.assign(new Error("left the folder"), { code: "ELOOP" });
}

/** True when it was not there. */
async function makeIfMissing(parent: OpenFolder, name: string): Promise<boolean> {
  let isMade = true;
  try {
    await mkdir(parent.at(name));
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw await explainName(error, parent.self);
    isMade = false;
  }
  if (!ENDING.test(name) || (await readdir(parent.self)).includes(name)) return isMade;
  if (isMade) await rmdir(parent.at(name));
  throw refuseName();
}

/** Where a folder is: `parts` below the folder `root`, which the setting `setting` of a connection names. */
interface Place {
  readonly root: string;
  readonly setting: string;
  readonly parts?: readonly string[];
}

/** Takes the empty ones of a place's folders away, the deepest first, from `parts[first]` on. Never fails. */
export async function removeEmptyFolders({ root, setting, parts = [] }: Place, first = 0): Promise<void> {
  for (let end = parts.length - 1; end >= first; end--) {
    const above = { root, setting, parts: parts.slice(0, end) };
    await withFolder(above, (folder) => rmdir(folder.at(parts[end] ?? ""))).catch(() => undefined);
  }
}

/**
 * Opens the folder `parts` below `root` component by component without following a symbolic link, runs `use` and closes it.
 * `root` itself may be reached through links. With `create`, missing folders are made and flushed, and taken away when `use`
 * fails before it changed anything.
 *
 * Throws ServiceError 503 `provider_unavailable` when `root` is missing, 422 `integration_misconfigured` when it is not a
 * folder; file system errors below it pass through for `explainFolderError`.
 */
export async function withFolder<T>(
  place: Place & { readonly create?: boolean },
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  const { folder: root, path: rootPath } = await openRoot(place.root, place.setting);
  let current = root;
  let path = rootPath;
  let firstMade: number | undefined;
  try {
    for (const [index, part] of (place.parts ?? []).entries()) {
      path = join(path, part);
      if (place.create && (await makeIfMissing(current, part))) {
        firstMade ??= index;
        await current.flush();
      }
      const next = await OpenFolder.open(current.at(part), OPEN_FOLDER, path);
      current.close();
      current = next;
      await checkPlace(path, rootPath);
    }
    return await use(current);
  } catch (error) {
    const isDone = hasCode(error, UNFLUSHED) || hasCode(error, "outcome_unknown");
    if (firstMade !== undefined && !isDone) await removeEmptyFolders(place, firstMade);
    throw error;
  } finally {
    current.close();
  }
}

/** O_NONBLOCK: a named pipe in the folder must not stall the service. */
const OPEN_FILE = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/** Opens a regular file of `folder` without following a link, runs `use` and closes it. Throws `EISDIR` for a folder, `ELOOP` for links, pipes and devices. */
export async function withFile<T>(
  folder: Folder,
  name: string,
  use: (handle: FileHandle, stats: Stats) => Promise<T>,
): Promise<T> {
  const handle = await open(folder.at(name), OPEN_FILE);
  try {
    const stats = await handle.stat();
    if (stats.isDirectory()) throw Object.assign(new Error("is a folder"), { code: "EISDIR" });
    if (!stats.isFile()) throw Object.assign(new Error("is not a file"), { code: "ELOOP" });
    return await use(handle, stats);
  } finally {
    await handle.close();
  }
}

/** All bytes of a regular file. Throws `EFBIG` above `maxBytes`, before reading. */
export async function readWholeFile(
  folder: Folder,
  name: string,
  maxBytes: number,
): Promise<{ readonly bytes: Buffer; readonly stats: Stats }> {
  return withFile(folder, name, async (handle, stats) => {
    if (stats.size > maxBytes) throw Object.assign(new Error("is too large"), { code: "EFBIG" });
    return { bytes: await handle.readFile(), stats };
  });
}

/** NAME_MAX of common file systems. */
const MAX_NAME_BYTES = 255;
/** Half of PATH_MAX: the connection's folder stands before it. */
const MAX_PATH_BYTES = 2048;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it looks for
const CONTROL = /[\u0000-\u001f\u007f]/;

/**
 * Components of a path below a connection's folder; none for the folder itself. Throws ServiceError 400 naming `field` for
 * absolute paths, `.` and `..`, backslashes, control characters, and names or paths that are too long.
 */
export function parseFolderPath(path: string, field: string): string[] {
  if (CONTROL.test(path)) throw refuseValue(field, "holds a control character.");
  if (path.includes("\\")) throw refuseValue(field, 'holds a backslash; separate folders with "/".');
  // "~" is the home folder only as a whole name: "~$report.docx" is a file as any other.
  if (/^(?:\/|~(?:\/|$))/.test(path) && path !== "/")
    throw refuseValue(field, "must be relative to the connection's folder.", 'Leave out the leading "/" or "~".');
  if (Buffer.byteLength(path) > MAX_PATH_BYTES) throw refuseValue(field, `is longer than ${MAX_PATH_BYTES} bytes.`);
  const parts = path.split("/").filter((part) => part !== "");
  for (const part of parts) {
    if (part === "." || part === "..")
      throw refuseValue(field, `must not contain "${part}".`, "Write the path from the connection's folder on.");
    if (Buffer.byteLength(part) > MAX_NAME_BYTES)
      throw refuseValue(field, `has a name of more than ${MAX_NAME_BYTES} bytes.`);
  }
  return parts;
}

/** As {@link parseFolderPath}, split into the folder and the last name; refuses the connection's folder itself. */
export function parseEntryPath(path: string, field: string): { parents: string[]; name: string } {
  const parents = parseFolderPath(path, field);
  const name = parents.pop();
  if (name === undefined) throw refuseValue(field, "must name something inside the connection's folder.");
  return { parents, name };
}

/** The single path component in `name`, or ServiceError 400. */
export function parseEntryName(name: string, field: string): string {
  const { parents, name: last } = parseEntryPath(name, field);
  if (parents.length > 0) throw refuseValue(field, 'must be a plain name without "/".');
  return last;
}
