import { readdir } from "node:fs/promises";
import { z } from "zod";
import { parseFolderPath } from "../../files/folder-path.ts";
import { UNFINISHED_PREFIX } from "../../files/write-file.ts";
import { defineAction } from "../define-action.ts";
import type { ConnectionView } from "../integration.ts";
import { type DriveEntry, driveFolder, lookAtEntry } from "./drive-folder.ts";

/** Visible entries of one folder, folders first, then by name. */
export async function readEntries(
  connection: ConnectionView,
  parts: readonly string[],
  options: { readonly field: string; readonly includeHidden: boolean },
): Promise<DriveEntry[]> {
  return driveFolder.open(connection, { parts, field: options.field }, async (folder) => {
    const entries: DriveEntry[] = [];
    for (const name of await readdir(folder.self)) {
      if (name.startsWith(UNFINISHED_PREFIX) || (name.startsWith(".") && !options.includeHidden)) continue;
      const entry = await lookAtEntry(folder, parts, name);
      if (entry !== undefined) entries.push(entry);
    }
    return entries.sort((a, b) =>
      a.type === b.type ? a.name.localeCompare(b.name, "en") : a.type === "folder" ? -1 : 1,
    );
  });
}

/** `drive_list_files`. */
export const listFiles = defineAction({
  id: "list_files",
  title: "List files",
  description:
    "Lists files and folders of one folder of the drive, folders first. Symbolic links and names that begin with a dot are left out.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["drive.read"],
  arguments: z.strictObject({
    folder: z
      .string()
      .default("")
      .describe('Folder relative to the drive, for example "Reports/2026"; empty for the top.'),
    include_hidden: z.boolean().default(false).describe("Also list names that begin with a dot, such as .trash."),
    offset: z
      .int()
      .min(0)
      .max(1_000_000)
      .default(0)
      .describe("How many entries to skip; see next_offset of the answer."),
    limit: z.int().min(1).max(500).default(100).describe("Most entries in one answer."),
  }),
  examples: [{ folder: "" }, { folder: "Reports/2026", limit: 20 }],
  async run({ folder, include_hidden, offset, limit }, { connection }) {
    const parts = parseFolderPath(folder, "folder");
    const all = await readEntries(connection, parts, { field: "folder", includeHidden: include_hidden });
    const entries = all.slice(offset, offset + limit);
    const end = offset + entries.length;
    return { folder: parts.join("/"), entries, total: all.length, ...(end < all.length ? { next_offset: end } : {}) };
  },
});
