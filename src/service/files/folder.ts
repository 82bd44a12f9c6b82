import { constants, existsSync } from "node:fs";
import { type FileHandle, mkdir, open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { refuseSetting, refuseUnavailable } from "./folder-error.ts";

const OPEN_FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0);
/** Here an open descriptor has a path of its own, so that nothing above it can be swapped under us. */
const HAS_DESCRIPTOR_PATHS = process.platform === "linux" && existsSync("/proc/self/fd");

/** An open folder. Its entries are reached through the descriptor, not through the path it once had. */
export interface Folder {
  /** Path of the entry `name`, valid while the folder is open. `name` is one component that was checked before. */
  at(name: string): string;
  /** Path of the folder itself, valid while it is open. */
  readonly self: string;
  /** Waits until the disk holds the folder's entries. */
  sync(): Promise<void>;
}

class OpenFolder implements Folder {
  readonly handle: FileHandle;
  readonly self: string;

  constructor(handle: FileHandle, path: string) {
    this.handle = handle;
    this.self = HAS_DESCRIPTOR_PATHS ? `/proc/self/fd/${handle.fd}` : path;
  }

  at(name: string): string {
    return join(this.self, name);
  }

  async sync(): Promise<void> {
    await this.handle.sync();
  }
}

async function openRoot(path: string, setting: string): Promise<{ folder: OpenFolder; path: string }> {
  try {
    const real = await realpath(path);
    return { folder: new OpenFolder(await open(real, OPEN_FOLDER), real), path: real };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
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

async function makeIfMissing(parent: OpenFolder, name: string): Promise<void> {
  try {
    await mkdir(parent.at(name));
    await parent.sync();
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

/**
 * Opens the folder `parts` below `root` component by component without following a symbolic link, runs `use` and closes it.
 * `root` itself may be reached through links. With `create`, missing folders are made and flushed.
 *
 * Throws ServiceError 503 `provider_unavailable` when `root` is missing, 422 `integration_misconfigured` when it is not a
 * folder; file system errors below it pass through for `explainFolderError`.
 */
export async function withFolder<T>(
  place: {
    readonly root: string;
    readonly setting: string;
    readonly parts?: readonly string[];
    readonly create?: boolean;
  },
  use: (folder: Folder) => Promise<T>,
): Promise<T> {
  const { folder: root, path: rootPath } = await openRoot(place.root, place.setting);
  let current = root;
  let path = rootPath;
  try {
    for (const part of place.parts ?? []) {
      if (place.create) await makeIfMissing(current, part);
      path = join(path, part);
      const next = new OpenFolder(await open(current.at(part), OPEN_FOLDER), path);
      await current.handle.close();
      current = next;
      await checkPlace(path, rootPath);
    }
    return await use(current);
  } finally {
    await current.handle.close();
  }
}
