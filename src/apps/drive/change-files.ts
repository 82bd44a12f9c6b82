import { z } from "zod";
import { sanitiseFileName } from "../../service/files/file-name.ts";
import { parseEntryName, parseEntryPath, parseFolderPath } from "../../service/files/folder.ts";
import { TRASH_FOLDER } from "../../service/files/write-file.ts";
import { refuseValue } from "../../service/service-error.ts";
import { describeFile } from "../port/define-action.ts";
import { filePutAwaySchema, isFilePutAway } from "../port/put-away.ts";
import { deletesWhen, given } from "../port/raised-levels.ts";
import { type DriveThing, defineDriveAction, type EntryPath, isUnfinished, toText } from "./drive.ts";
import { folderKeeps, toFolderIntent } from "./keeps/folder-keeps.ts";
import { isLike, toPlace } from "./keeps/kept-things.ts";
import { leaveThing, toChanged } from "./keeps/look-again.ts";
import { moveKeeps, toMoveIntent } from "./keeps/move-keeps.ts";
import { removalKeeps, sayRemoved, toRemovalIntent } from "./keeps/removal-keeps.ts";
import { toUploadIntent, uploadKeeps } from "./keeps/upload-keeps.ts";
import { aimAt, planChange, planFolder, planMove, planPlace, planRemoval, sayOldVersion } from "./plan-change.ts";
import { previewFolder, previewMove, previewRemoval, previewSave } from "./preview-change.ts";

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
  async preview({ path }, drive, { connection }) {
    return previewFolder(await planFolder(drive, readTarget(path, "path")), connection.label);
  },
  async run({ path }, drive, context) {
    const target = readTarget(path, "path");
    const plan = await planChange(context, () => planFolder(drive, target));
    const intent = plan && toFolderIntent(plan);
    if (intent !== undefined) await context.keep?.(intent);
    const made = await drive.createFolder(target);
    context.leave?.({ created: made.created });
    return made;
  },
  keeps: folderKeeps,
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
        "When the destination is taken: refuse, use a numbered name, or replace the file there, whose old version goes to .trash. Folders are never replaced.",
      ),
  }),
  examples: [{ path: "march.pdf", destination: "Archive/2025/march.pdf" }],
  askBefore: ["What is moved, and where to?"],
  async judge({ destination }) {
    return isFilePutAway(destination) ? { level: "delete", says: PUTS_AWAY } : undefined;
  },
  async preview({ path, destination, if_exists }, drive, { connection }) {
    const wanted = { from: readPath(path, "path"), to: readTarget(destination, "destination") };
    return previewMove(await planMove(drive, wanted, if_exists), connection.label);
  },
  async run({ path, destination, if_exists }, drive, context) {
    const from = toChanged(readPath(path, "path"), context);
    const to = toChanged(readTarget(destination, "destination"), context);
    const plan = await planChange(context, () => planMove(drive, { from, to }, if_exists));
    const aim = aimAt(plan?.place, { path: plan?.to ?? to, wanted: to, ifExists: if_exists });
    const intent = plan && toMoveIntent(plan, { drive, wanted: aim.numbered });
    if (intent !== undefined) await context.keep?.(intent);
    const moved = await drive.move(plan?.from ?? from, aim.path, aim.ifExists);
    if (plan !== undefined && intent !== undefined) {
      const place = { ...toPlace(to), name: moved.name };
      await leaveThing(context, { drive, place, isOurs: (thing) => isLike(plan.source, thing) });
    }
    return { ...moved, moved_from: toText(from), ...sayOldVersion(plan?.place) };
  },
  keeps: moveKeeps,
});

/** `drive_delete_file`. */
export const deleteFile = defineDriveAction({
  id: "delete_file",
  title: "Delete",
  description:
    "Deletes a file or folder: throws it away by moving it to .trash in the drive, from where a human can restore it. Nothing is erased; emptying .trash is up to a human.",
  level: "delete",
  scopes: ["drive.write"],
  arguments: z.strictObject({
    path: z.string().min(1).describe("File or folder to delete, relative to the drive."),
  }),
  examples: [{ path: "drafts/old.txt" }],
  askBefore: ["Which file or folder is deleted? A folder goes with everything in it."],
  async preview({ path }, drive, { connection }) {
    return previewRemoval(await planRemoval(drive, readRemovable(path)), connection.label);
  },
  async run({ path }, drive, context) {
    const wanted = toChanged(readRemovable(path), context);
    const plan = await planChange(context, () => planRemoval(drive, wanted));
    const intent = plan && toRemovalIntent(plan);
    if (intent !== undefined) await context.keep?.(intent);
    const trashed = await drive.trash(plan?.path ?? wanted);
    if (intent !== undefined)
      await leaveThing(context, { drive, place: intent.trashed, isOurs: (thing) => isLike(intent.source, thing) });
    return sayRemoved(toText(wanted), trashed);
  },
  keeps: removalKeeps,
});

function readPath(path: string, field: string): EntryPath {
  return { ...parseEntryPath(path, field), field };
}

/** Refuses what is in the trash already. */
function readRemovable(path: string): EntryPath {
  const wanted = readPath(path, "path");
  if (toText(wanted).split("/")[0] !== TRASH_FOLDER) return wanted;
  throw refuseValue("path", "is in .trash already.", "A human empties .trash; move_file brings things back.");
}

function readTarget(path: string, field: string): EntryPath {
  return checkTarget(readPath(path, field));
}

/** Refuses places that belong to the drive itself. */
function checkTarget<Path extends EntryPath>(path: Path): Path {
  if (toText(path).split("/")[0] !== TRASH_FOLDER && !isUnfinished(path.name)) return path;
  throw refuseValue(path.field, "is a place the drive keeps for itself.", "Choose another folder or name.");
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
        'When the name is taken: refuse, save under a numbered name such as "a (2).pdf", or replace the old file, which goes to .trash.',
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
  async preview({ file, if_exists, ...place }, drive, { file: findFile, connection: { label } }) {
    const plan = await planPlace(drive, readPlace(file.name, place), if_exists);
    return previewSave(plan, { file: findFile(file.s3key), drive, label });
  },
  async run({ file, if_exists, ...place }, drive, context) {
    const wanted = toChanged(readPlace(file.name, place), context);
    const held = context.file(file.s3key);
    const plan = await planChange(context, () => planPlace(drive, wanted, if_exists));
    const aim = aimAt(plan, { path: wanted, wanted, ifExists: if_exists });
    const intent = plan && toUploadIntent(plan, { drive, held, wanted: aim.numbered });
    if (intent !== undefined) await context.keep?.(intent);
    const saved = await drive.save(aim.path, { held, ifExists: aim.ifExists });
    if (intent !== undefined) {
      const isOurs = ({ entry, sha256 = held.sha256 }: DriveThing) =>
        entry.type === "file" && entry.size === held.size && sha256 === held.sha256;
      await leaveThing(context, { drive, place: { ...toPlace(wanted), name: saved.name }, isOurs });
    }
    return { ...saved, mimetype: held.mimetype, ...sayOldVersion(plan) };
  },
  keeps: uploadKeeps,
});

function readPlace(fileName: string, o: { readonly folder: string; readonly name?: string | undefined }): EntryPath {
  const field = o.name === undefined ? "file.name" : "name";
  const name = parseEntryName(o.name ?? sanitiseFileName(fileName), field);
  return checkTarget({ parents: parseFolderPath(o.folder, "folder"), name, field, parentsField: "folder" });
}
