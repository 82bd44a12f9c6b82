import type { PreviewEffect } from "../../../shared/wire/preview.ts";
import { quoteName } from "../../port/preview.ts";
import type { Drive } from "../drive.ts";
import { readPath } from "./kept-things.ts";

/** The folders that a change makes for a file; none where folders are the beginning of names. */
export function listMade({ hasFolders }: Drive, newFolders: readonly string[]): string[] {
  return hasFolders ? [...newFolders] : [];
}

/** Says that they go with what was put into them. */
export function sayMade(folders: readonly string[]): PreviewEffect[] {
  return folders.map((path) => ({
    code: "removes_folder",
    text: `The folder ${quoteName(path, 120)}, which was made for it, goes too, if it is empty then.`,
  }));
}

/** Takes those of the folders away that are empty, the deepest first. Never fails: one that stays does no harm. */
export async function removeMade(drive: Drive, folders: readonly string[]): Promise<void> {
  for (const path of folders.toReversed()) {
    const isGone = await drive.removeEmpty(readPath(path)).catch(() => false);
    if (!isGone) return;
  }
}
