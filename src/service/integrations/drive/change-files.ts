import { lstat, rename } from "node:fs/promises";
import { z } from "zod";
import { sanitiseFileName } from "../../files/file-name.ts";
import { type Folder, parseEntryName, parseEntryPath, parseFolderPath } from "../../files/folder.ts";
import { explainFolderError } from "../../files/folder-error.ts";
import {
  claimName,
  type IfExists,
  moveToTrash,
  TRASH_FOLDER,
  takeFreeName,
  UNFINISHED_PREFIX,
  writeFileDurably,
} from "../../files/write-file.ts";
import { refuseValue } from "../../service-error.ts";
import { defineAction, describeFile } from "../define-action.ts";
import type { HeldFile } from "../integration.ts";
import { driveFolder, lookAtEntry } from "./drive-folder.ts";

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

/** Refuses places that belong to the drive itself. */
function checkTarget(parents: readonly string[], name: string, field: string): void {
  if ([...parents, name][0] === TRASH_FOLDER || name.startsWith(UNFINISHED_PREFIX))
    throw refuseValue(field, "is a place the drive keeps for itself.", "Choose another folder or name.");
}

/** Opens the file only when it is read, so that a refusal before that leaves nothing open. */
async function* readHeld(file: HeldFile): AsyncGenerator<Uint8Array, void, undefined> {
  yield* file.open();
}

/** `drive_upload_file`. */
export const uploadFile = defineAction({
  id: "upload_file",
  title: "Save a file",
  description:
    'Saves a file to the drive. Missing folders are created. Nothing is overwritten unless if_exists is "replace". The file is on the disk when the call returns.',
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: ["drive.write"],
  arguments: z.strictObject({
    file: describeFile("The file to save."),
    folder: z
      .string()
      .default("")
      .describe('Folder relative to the drive, for example "Invoices/2026"; empty for the top.'),
    name: z.string().min(1).optional().describe("Name in the drive; default is the file's own name."),
    if_exists: z
      .enum(["error", "rename", "replace"])
      .default("error")
      .describe(
        'When the name is taken: refuse, save under a numbered name such as "a (2).pdf", or replace the old file.',
      ),
  }),
  examples: [
    { file: { name: "march.pdf", mimetype: "application/pdf", s3key: "march-file" }, folder: "Invoices/2026" },
    { file: { name: "a.png", mimetype: "image/png", s3key: "a" }, name: "logo.png", if_exists: "replace" },
  ],
  preconditions: ["The file is at most 25 MB."],
  askBefore: ["Into which folder and under which name is this file saved?", "May a file of that name be replaced?"],
  async run({ file, folder, name, if_exists }, { connection, file: findFile, signal }) {
    const parts = parseFolderPath(folder, "folder");
    const field = name === undefined ? "file.name" : "name";
    const wanted = parseEntryName(name ?? sanitiseFileName(file.name), field);
    checkTarget(parts, wanted, field);
    const held = findFile(file.s3key);
    return driveFolder.open(connection, { parts, field: "folder", create: true }, async (target) => {
      const written = await writeFileDurably(target, {
        name: wanted,
        bytes: readHeld(held),
        ifExists: if_exists,
        signal,
      }).catch((error: NodeJS.ErrnoException) => {
        if (error.code !== "EEXIST") throw error;
        const path = [...parts, wanted].join("/");
        throw refuseValue(
          field,
          `is taken: "${path}" exists.`,
          'Set if_exists to "rename" or "replace", or choose another name.',
        );
      });
      const entry = await lookAtEntry(target, parts, written.name);
      return { ...entry, path: [...parts, written.name].join("/"), ...written, mimetype: held.mimetype };
    });
  },
});
