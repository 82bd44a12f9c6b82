import { constants } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../../../shared/base/error-code.ts";
import { isSvcError, SvcError } from "../../../shared/errors.ts";
import { findSecretEntry, isDeniedName, SERVICE_FILES } from "./denied-names.ts";

/** Linux `O_PATH`: a descriptor that names a file without opening it. Node has no constant for it. */
export const O_PATH = 0x20_0000;

/** How files below a root are opened; see `open-below-root.ts`. */
export type OpenMode = "walk" | "nofollow-any" | "identity" | "windows";

/** One media root, made by {@link createMediaRoots}. */
export interface MediaRoot {
  /** As the user wrote it, made absolute. */
  readonly configured: string;
  /** With every symbolic link resolved, once, when the root was made. */
  readonly canonical: string;
  /** When set, the one file of this folder that may be read. */
  readonly only?: string;
  /** When set, the folders directly below the root that files may be read from. */
  readonly areas?: readonly string[];
  /** The open root folder; only in mode `walk`. */
  readonly anchor: FileHandle | undefined;
}

/** A media root limited to some of its folders. */
export interface MediaFolder {
  /** Absolute, or below `~`. */
  readonly folder: string;
  /** Names of folders directly below it; a file elsewhere in the folder is refused. */
  readonly areas: readonly string[];
}

/** The folders files may be read from. Without any, every local file is refused. */
export interface MediaRoots {
  readonly list: readonly MediaRoot[];
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly mode: OpenMode;
  readonly sleep: (ms: number) => Promise<void>;
  /** Releases the open root folders; local files are refused afterwards. */
  close(): Promise<void>;
}

/** Settings of {@link createMediaRoots}. */
export interface MediaRootsOptions {
  /** What `~` means. Default: the home folder of the user. */
  readonly home?: string;
  /** Single files a human named by absolute path; nothing else in their folders is accepted. */
  readonly files?: readonly string[];
  /** Folders with a runtime's state and keys. No root may contain one, or lie in one unless `mayHoldRoots` allows it. */
  readonly privateFolders?: readonly PrivateFolder[];
  /** Waits between two looks at a file that is being published. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Prepares the media folders: creates a missing one (mode 0700), resolves its links once and keeps it open, so that a
 * later swap of the folder or its parents changes nothing. The working directory is never a root unless it is named.
 *
 * @throws SvcError `invalid_config` for `/`, the home folder or one above it, system folders, folders that hold
 * secrets, private folders, relative paths and anything that is not a folder.
 */
export async function createMediaRoots(
  folders: readonly (string | MediaFolder)[],
  options: MediaRootsOptions = {},
): Promise<MediaRoots> {
  const home = path.resolve(options.home ?? homedir());
  const rules = { home, privateFolders: options.privateFolders ?? [] };
  const mode = await chooseOpenMode(process.platform);
  const list: MediaRoot[] = [];
  const close = async () => {
    for (const root of list.splice(0)) await root.anchor?.close();
  };
  try {
    for (const one of folders) list.push(await openRoot(one, rules, mode));
    for (const file of options.files ?? []) list.push(await openNamedFile(file, home, mode));
  } catch (error) {
    await close();
    throw error;
  }
  return { list, home, platform: process.platform, mode, sleep: options.sleep ?? ((ms) => wait(ms)), close };
}

async function chooseOpenMode(platform: NodeJS.Platform): Promise<OpenMode> {
  if (platform === "win32") return "windows";
  if (platform === "darwin") return "nofollow-any";
  if (platform !== "linux") return "identity";
  return access("/proc/self/fd").then(
    () => "walk",
    () => "identity",
  );
}

async function openRoot(one: string | MediaFolder, rules: RootRules, mode: OpenMode): Promise<MediaRoot> {
  const folder = typeof one === "string" ? one : one.folder;
  const configured = expand(folder, rules.home);
  await refuseUnsafeRoot(folder, configured, rules);
  return attempt(folder, async () => {
    await mkdir(configured, { recursive: true, mode: 0o700 });
    const canonical = await realpath(configured);
    await refuseUnsafeRoot(folder, canonical, rules);
    const secret = findSecretEntry(await readdir(canonical));
    if (secret !== undefined) throw badRoot(folder, `it holds ${secret}`);
    const root = { configured, canonical, anchor: await openAnchor(folder, canonical, mode) };
    return typeof one === "string" ? root : { ...root, areas: one.areas };
  });
}

/** Any folder will do, since only one file of it can be reached. */
async function openNamedFile(file: string, home: string, mode: OpenMode): Promise<MediaRoot> {
  const { dir: configured, base: only } = path.parse(expand(file, home));
  return attempt(file, async () => {
    const canonical = await realpath(configured);
    return { configured, canonical, only, anchor: await openAnchor(file, canonical, mode) };
  });
}

function expand(folder: string, home: string): string {
  const isHome = /^~(?:\/|$)/.test(folder) || (path.sep === "\\" && folder.startsWith("~\\"));
  const expanded = isHome ? path.join(home, folder.slice(1)) : folder;
  if (folder.includes("\0") || !path.isAbsolute(expanded)) throw badRoot(folder, "it is not an absolute path");
  return path.resolve(expanded);
}

async function openAnchor(folder: string, canonical: string, mode: OpenMode): Promise<FileHandle | undefined> {
  if (!(await stat(canonical)).isDirectory()) throw badRoot(folder, "it is not a folder");
  if (mode !== "walk") return undefined;
  const anchor = await open(canonical, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  if ((await readlink(`/proc/self/fd/${anchor.fd}`)) === canonical) return anchor;
  await anchor.close();
  throw badRoot(folder, "it was moved while it was being opened");
}

async function attempt(folder: string, step: () => Promise<MediaRoot>): Promise<MediaRoot> {
  try {
    return await step();
  } catch (error) {
    if (isSvcError(error)) throw error;
    const code = errorCode(error) ?? "unknown error";
    throw badRoot(folder, `it cannot be opened or created: ${code}`, error);
  }
}

/** A folder whose files are never sent: the state of a runtime, with its configuration and keys. */
export interface PrivateFolder {
  readonly folder: string;
  /** True for the name of a folder directly below it in which a root may lie all the same. */
  mayHoldRoots(name: string): boolean;
}

interface RootRules {
  readonly home: string;
  readonly privateFolders: readonly PrivateFolder[];
}

/** Refused with everything below them. Those of Windows: {@link isOfWindows}. */
const SYSTEM_TREES =
  "/proc /sys /etc /boot /usr /bin /sbin /lib /lib32 /lib64 /var/log /var/spool /System /Library /private/etc".split(
    " ",
  );
/** Refused themselves; folders of users and services lie below them. */
const SYSTEM_FOLDERS = [
  ..."/dev /var /var/lib /var/cache /run /run/user /home /root /opt /srv /mnt /media".split(" "),
  ..."/private /private/var /Users /Applications /Volumes".split(" "),
];

/**
 * Refuses a folder from which more could be read than files meant to be sent. Call it with the path as configured and
 * again with its links resolved.
 *
 * @throws SvcError `invalid_config`
 */
async function refuseUnsafeRoot(folder: string, resolved: string, rules: RootRules): Promise<void> {
  if (path.parse(resolved).root === resolved) throw badRoot(folder, "it is the whole file system");
  for (const home of await spellings(rules.home)) {
    if (isSameOrBelow(home, resolved)) throw badRoot(folder, "it contains the home folder");
  }
  if (
    SYSTEM_FOLDERS.includes(resolved) ||
    SYSTEM_TREES.some((tree) => isSameOrBelow(resolved, tree)) ||
    isOfWindows(resolved, rules.home)
  ) {
    throw badRoot(folder, "it belongs to the operating system");
  }
  if (resolved.split(path.sep).some(isDeniedName)) throw badRoot(folder, "folders like this hold secrets");
  if (await isInService(resolved)) throw badRoot(folder, "it lies in the data folder of a service");
  for (const one of rules.privateFolders) await refusePrivate(folder, resolved, one);
}

/** Folders of Windows and of its programs, and what programs keep in the profile: `AppData` but for temporary files. */
export function isOfWindows(folder: string, home: string, platform: NodeJS.Platform = process.platform): boolean {
  if (platform !== "win32") return false;
  const { sep, parse, join } = path.win32;
  const here = folder.toLowerCase();
  const isBelow = (tree: string) => here === tree.toLowerCase() || here.startsWith(`${tree.toLowerCase()}${sep}`);
  const { root } = parse(folder);
  const trees = ["Windows", "Program Files", "Program Files (x86)", "ProgramData"].map((name) => join(root, name));
  const data = join(home, "AppData");
  return trees.some(isBelow) || (isBelow(data) && !isBelow(join(data, "Local", "Temp")));
}

/** True below a folder that holds the database or the key of a service. */
async function isInService(resolved: string): Promise<boolean> {
  for (let above = path.dirname(resolved); above !== path.dirname(above); above = path.dirname(above)) {
    for (const name of SERVICE_FILES) {
      const isThere = await access(path.join(above, name)).then(
        () => true,
        () => false,
      );
      if (isThere) return true;
    }
  }
  return false;
}

async function refusePrivate(folder: string, resolved: string, secret: PrivateFolder): Promise<void> {
  for (const state of await spellings(secret.folder)) {
    if (isSameOrBelow(state, resolved)) throw badRoot(folder, "it contains the state folder of the runtime");
    const name = path.relative(state, resolved).split(path.sep)[0] ?? "";
    if (isSameOrBelow(resolved, state) && !secret.mayHoldRoots(name))
      throw badRoot(folder, "it lies in the state folder of the runtime");
  }
}

/** The path as it was given and with its links resolved. */
async function spellings(folder: string): Promise<readonly string[]> {
  const given = path.resolve(folder);
  return [given, await realpath(given).catch(() => given)];
}

function isSameOrBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** The error for a folder that cannot be a media root; `why` completes "cannot be a media folder: …". */
function badRoot(folder: string, why: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `"${folder}" cannot be a media folder: ${why}.`, {
    field: "mediaRoots",
    hint: "Name a folder made for files to be sent, such as ~/svc-files.",
    cause,
  });
}
