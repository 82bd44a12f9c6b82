import { lstat, rename } from "node:fs/promises";
import { z } from "zod";
import type { Folder } from "../../files/folder.ts";
import { explainFolderError, refuseValue } from "../../files/folder-error.ts";
import { parseEntryPath } from "../../files/folder-path.ts";
import { moveToTrash, TRASH_FOLDER } from "../../files/trash.ts";
import { claimName, type IfExists, takeFreeName } from "../../files/write-file.ts";
import { defineAction } from "../define-action.ts";
import { driveFolder, lookAtEntry } from "./drive-folder.ts";
import { checkTarget } from "./upload-file.ts";

/** `drive_create_folder`. */
export const createFolder = defineAction({
  id: "create_folder",
  title: "Create a folder",
  description: "Creates a folder, and the folders above it that are missing. An existing folder is left as it is.",
  level: "write",
  requiresConfirmation: true,
  idempotent: true,
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe('New folder relative to the drive, for example "Invoices/2026".'),
  }),
  examples: [{ path: "Invoices/2026" }],
  askBefore: ["Which folder is created?"],
  async run({ path }, { connection }) {
    const { parents, name } = parseEntryPath(path, "path");
    checkTarget(parents, name, "path");
    return driveFolder.open(connection, { parts: parents, field: "path", create: true, name }, async (parent) => {
      const before = await lookAtEntry(parent, parents, name);
      const entry = await driveFolder.open(connection, { parts: [...parents, name], field: "path", create: true }, () =>
        lookAtEntry(parent, parents, name),
      );
      return { ...entry, created: before === undefined };
    });
  },
});

interface Move {
  readonly from: Folder;
  readonly name: string;
  readonly to: Folder;
  readonly wanted: string;
  readonly ifExists: IfExists;
}

async function move({ from, name, to, wanted, ifExists }: Move): Promise<string> {
  const source = await lstat(from.at(name));
  if (source.isSymbolicLink()) throw Object.assign(new Error("is a link"), { code: "ELOOP" });
  if (source.isDirectory()) {
    // A folder cannot be linked, and renaming over an empty folder would swallow it.
    const taken = await lstat(to.at(wanted)).catch(() => undefined);
    if (taken !== undefined) throw Object.assign(new Error("taken"), { code: "EEXIST" });
    await rename(from.at(name), to.at(wanted));
    return wanted;
  }
  if (ifExists === "rename") return takeFreeName(wanted, (free) => claimName(from.at(name), to.at(free)));
  if (ifExists === "error") await claimName(from.at(name), to.at(wanted));
  else await rename(from.at(name), to.at(wanted));
  return wanted;
}

/** `drive_move_file`. */
export const moveFile = defineAction({
  id: "move_file",
  title: "Move or rename",
  description:
    "Moves or renames a file or folder inside the drive. Missing folders are created. Also brings things back from .trash.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe("What to move, relative to the drive."),
    destination: z.string().min(1).describe('New path including the name, for example "Archive/2025/march.pdf".'),
    if_exists: z
      .enum(["error", "rename", "replace"])
      .default("error")
      .describe(
        "When the destination is taken: refuse, use a numbered name, or replace the file there. Folders are never replaced.",
      ),
  }),
  examples: [{ path: "march.pdf", destination: "Archive/2025/march.pdf" }],
  askBefore: ["What is moved, and where to?"],
  async run({ path, destination, if_exists }, { connection }) {
    const source = parseEntryPath(path, "path");
    const target = parseEntryPath(destination, "destination");
    checkTarget(target.parents, target.name, "destination");
    return driveFolder.open(connection, { parts: source.parents, field: "path", name: source.name }, async (from) => {
      await lstat(from.at(source.name));
      return driveFolder.open(
        connection,
        { parts: target.parents, field: "destination", name: target.name, create: true },
        async (to) => {
          const name = await move({ from, name: source.name, to, wanted: target.name, ifExists: if_exists });
          await to.sync();
          await from.sync();
          const entry = await lookAtEntry(to, target.parents, name);
          return { ...entry, moved_from: [...source.parents, source.name].join("/") };
        },
      );
    });
  },
});

/** `drive_delete_file`. */
export const deleteFile = defineAction({
  id: "delete_file",
  title: "Delete",
  description:
    "Deletes a file or folder by moving it to .trash in the drive, from where a human can restore it. Nothing is erased; emptying .trash is up to a human.",
  level: "delete",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe("File or folder to delete, relative to the drive."),
  }),
  examples: [{ path: "drafts/old.txt" }],
  askBefore: ["Which file or folder is deleted? A folder goes with everything in it."],
  async run({ path }, { connection, now }) {
    const { parents, name } = parseEntryPath(path, "path");
    const whole = [...parents, name];
    if (whole[0] === TRASH_FOLDER)
      throw refuseValue("path", "is in .trash already.", "A human empties .trash; move_file brings things back.");
    const root = driveFolder.read(connection.settings);
    try {
      const trashed = await moveToTrash({ root, setting: driveFolder.setting, parents, name }, now());
      return {
        path: whole.join("/"),
        deleted: true,
        trashed_to: trashed,
        restore: `Move "${trashed}" back to restore it.`,
      };
    } catch (error) {
      throw explainFolderError(error, { field: "path", path: whole.join("/") });
    }
  },
});
