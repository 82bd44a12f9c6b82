import { constants } from "node:fs";
import { access, type FileHandle, mkdir, open, readdir, readlink, realpath, stat } from "node:fs/promises";
import { homedir } from "node:os";
import path from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { errorCode } from "../../base/disk.ts";
import { isSvcError } from "../../errors.ts";
import { findSecretEntry } from "./denied-names.ts";
import { badRoot, type PrivateFolder, type RootRules, refuseUnsafeRoot } from "./root-rules.ts";

/** Linux `O_PATH`: a descriptor that names a file without opening it. Node has no constant for it. */
export const O_PATH = 0x20_0000;

/** How files below a root are opened; see `open-below-root.ts`. */
export type OpenMode = "walk" | "nofollow-any" | "identity" | "windows";

/** One folder files may be read from. */
export interface MediaRoot {
  /** As the user wrote it, made absolute. */
  readonly configured: string;
  /** With every symbolic link resolved, once, when the root was made. */
  readonly canonical: string;
  /** Folders below the root that a file must lie in; empty for an ordinary root. */
  readonly within: readonly string[];
  /** When set, the one file of this folder that may be read. */
  readonly only?: string;
  /** When set, the folders directly below the root that files may be read from. */
  readonly areas?: readonly string[];
  /** The open root folder; only in mode `walk`. */
  readonly anchor: FileHandle | undefined;
}

/** A media folder of which only some parts may be read. */
export interface MediaFolder {
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

/** Options of {@link createMediaRoots}. */
export interface MediaRootsOptions {
  /** What `~` means. Default: the home folder of the user. */
  readonly home?: string;
  /** Workspace of an agent; files in its `media/inbound` are accepted, also as a relative path. */
  readonly workspace?: string;
  /** Single files a human named by absolute path; nothing else in their folders is accepted. */
  readonly files?: readonly string[];
  /** Folders with a runtime's state and keys. No root may contain one, or lie in one unless `mayHoldRoots` allows it. */
  readonly privateFolders?: readonly PrivateFolder[];
  /** Waits between two looks at a file that is being published. Default: a timer. */
  readonly sleep?: (ms: number) => Promise<void>;
}

const WORKSPACE_INBOUND = ["media", "inbound"];

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
    if (options.workspace !== undefined) list.push(await openWorkspace(options.workspace, rules, mode));
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
    const root = { configured, canonical, within: [], anchor: await openAnchor(folder, canonical, mode) };
    return typeof one === "string" ? root : { ...root, areas: one.areas };
  });
}

async function openWorkspace(folder: string, rules: RootRules, mode: OpenMode): Promise<MediaRoot> {
  const configured = expand(folder, rules.home);
  return attempt(folder, async () => {
    const canonical = await realpath(configured);
    await refuseUnsafeRoot(folder, path.join(canonical, ...WORKSPACE_INBOUND), rules);
    const anchor = await openAnchor(folder, canonical, mode);
    return { configured, canonical, within: WORKSPACE_INBOUND, anchor };
  });
}

/** Any folder will do, since only one file of it can be reached. */
async function openNamedFile(file: string, home: string, mode: OpenMode): Promise<MediaRoot> {
  const { dir: configured, base: only } = path.parse(expand(file, home));
  return attempt(file, async () => {
    const canonical = await realpath(configured);
    return { configured, canonical, within: [], only, anchor: await openAnchor(file, canonical, mode) };
  });
}

function expand(folder: string, home: string): string {
  const expanded = folder === "~" || folder.startsWith("~/") ? path.join(home, folder.slice(1)) : folder;
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
