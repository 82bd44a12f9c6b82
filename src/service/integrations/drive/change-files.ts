import { z } from "zod";
import { sanitiseFileName } from "../../files/file-name.ts";
import { parseEntryName, parseEntryPath, parseFolderPath } from "../../files/folder.ts";
import { TRASH_FOLDER } from "../../files/write-file.ts";
import { refuseValue } from "../../service-error.ts";
import { describeFile } from "../define-action.ts";
import { filePutAwaySchema, isFilePutAway } from "../put-away.ts";
import { deletesWhen, given } from "../raised-levels.ts";
import { defineDriveAction, isUnfinished, toText } from "./drive.ts";

const PUTS_AWAY = "moves it to where it is hidden or thrown away";
const REPLACES = deletesWhen(
  "replaces the file of that name, if there is one",
  given("if_exists", { const: "replace" }),
);

/** `drive_create_folder`. */
export const createFolder = defineDriveAction({
  id: "create_folder",
  title: "Create a folder",
  description: "Creates a folder, and the folders above it that are missing. An existing folder is left as it is.",
  level: "write",
  idempotent: true,
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe('New folder relative to the drive, for example "Invoices/2026".'),
  }),
  examples: [{ path: "Invoices/2026" }],
  askBefore: ["Which folder is created?"],
  async run({ path }, drive) {
    const { parents, name } = parseEntryPath(path, "path");
    checkTarget(parents, name, "path");
    return drive.createFolder({ parents, name, field: "path" });
  },
});

/** `drive_move_file`. */
export const moveFile = defineDriveAction({
  id: "move_file",
  title: "Move or rename",
  description:
    "Moves or renames a file or folder inside the drive. Missing folders are created. Also brings things back from .trash.",
  level: "write",
  raises: [REPLACES, deletesWhen(PUTS_AWAY, given("destination", filePutAwaySchema))],
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
  async judge({ destination }) {
    return isFilePutAway(destination) ? { level: "delete", says: PUTS_AWAY } : undefined;
  },
  async run({ path, destination, if_exists }, drive) {
    const source = { ...parseEntryPath(path, "path"), field: "path" };
    const target = { ...parseEntryPath(destination, "destination"), field: "destination" };
    checkTarget(target.parents, target.name, "destination");
    return { ...(await drive.move(source, target, if_exists)), moved_from: toText(source) };
  },
});

/** `drive_delete_file`. */
export const deleteFile = defineDriveAction({
  id: "delete_file",
  title: "Delete",
  description:
    "Deletes a file or folder by moving it to .trash in the drive, from where a human can restore it. Nothing is erased; emptying .trash is up to a human.",
  level: "delete",
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe("File or folder to delete, relative to the drive."),
  }),
  examples: [{ path: "drafts/old.txt" }],
  askBefore: ["Which file or folder is deleted? A folder goes with everything in it."],
  async run({ path }, drive) {
    const { parents, name } = parseEntryPath(path, "path");
    const whole = [...parents, name];
    if (whole[0] === TRASH_FOLDER)
      throw refuseValue("path", "is in .trash already.", "A human empties .trash; move_file brings things back.");
    const trashed = await drive.trash({ parents, name, field: "path" });
    const restore = `Move "${trashed}" back to restore it.`;
    return { path: whole.join("/"), deleted: true, trashed_to: trashed, restore };
  },
});

/** Refuses places that belong to the drive itself. */
function checkTarget(parents: readonly string[], name: string, field: string): void {
  if ([...parents, name][0] === TRASH_FOLDER || isUnfinished(name))
    throw refuseValue(field, "is a place the drive keeps for itself.", "Choose another folder or name.");
}

/** `drive_upload_file`. */
export const uploadFile = defineDriveAction({
  id: "upload_file",
  title: "Save a file",
  description:
    'Saves a file to the drive. Missing folders are created. Nothing is overwritten unless if_exists is "replace". The file is on the disk when the call returns.',
  level: "write",
  raises: [REPLACES],
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
  askBefore: [
    "Into which folder and under which name is this file saved?",
    "If it says if_exists: replace, may a file of that name be replaced?",
  ],
  async run({ file, folder, name, if_exists }, drive, { file: findFile }) {
    const parents = parseFolderPath(folder, "folder");
    const field = name === undefined ? "file.name" : "name";
    const wanted = parseEntryName(name ?? sanitiseFileName(file.name), field);
    checkTarget(parents, wanted, field);
    const held = findFile(file.s3key);
    const path = { parents, name: wanted, field, parentsField: "folder" };
    const saved = await drive.save(path, { held, ifExists: if_exists });
    return { ...saved, mimetype: held.mimetype };
  },
});
