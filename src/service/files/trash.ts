import { randomBytes } from "node:crypto";
import { lstat, rename } from "node:fs/promises";
import { type Folder, withFolder } from "./folder.ts";

/** Folder inside a connection's folder that deleted things move to. */
export const TRASH_FOLDER = ".trash";

/**
 * Moves an entry to `.trash/<time>-<random>/<its old path>`, so that a human can see where it was and put it back.
 * Returns its path there. Throws the file system's own errors.
 */
export async function moveToTrash(
  place: {
    readonly root: string;
    readonly setting: string;
    readonly parents: readonly string[];
    readonly name: string;
  },
  now: number,
): Promise<string> {
  const stamp = new Date(now).toISOString().replace(/[-:]|\.\d+/g, "");
  const parts = [TRASH_FOLDER, `${stamp}-${randomBytes(3).toString("hex")}`, ...place.parents];
  const { root, setting, parents, name } = place;
  return withFolder({ root, setting, parts: parents }, async (from: Folder) => {
    // Before the trash folder is made: a missing entry must leave no trace.
    await lstat(from.at(name));
    return withFolder({ root, setting, parts, create: true }, async (to) => {
      await rename(from.at(name), to.at(name));
      await to.sync();
      await from.sync();
      return [...parts, name].join("/");
    });
  });
}
