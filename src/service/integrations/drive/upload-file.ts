import { z } from "zod";
import { sanitiseFileName } from "../../files/file-name.ts";
import { refuseValue } from "../../files/folder-error.ts";
import { parseEntryName, parseFolderPath } from "../../files/folder-path.ts";
import { TRASH_FOLDER } from "../../files/trash.ts";
import { UNFINISHED_PREFIX, writeFileDurably } from "../../files/write-file.ts";
import { defineAction, describeFile } from "../define-action.ts";
import type { HeldFile } from "../integration.ts";
import { driveFolder, lookAtEntry } from "./drive-folder.ts";

/** Refuses places that belong to the drive itself. */
export function checkTarget(parents: readonly string[], name: string, field: string): void {
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
    const wanted = name === undefined ? sanitiseFileName(file.name) : parseEntryName(name, "name");
    const field = name === undefined ? "file.name" : "name";
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
