import { readdir } from "node:fs/promises";
import { z } from "zod";
import { parseFolderPath } from "../../files/folder.ts";
import { UNFINISHED_PREFIX } from "../../files/write-file.ts";
import { defineAction } from "../define-action.ts";
import type { ActionContext, ConnectionView } from "../integration.ts";
import { type DriveEntry, driveFolder, lookAtEntry } from "./drive-folder.ts";

/** Visible entries of one folder, folders first, then by name. */
async function readEntries(
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

/** Some seconds on a slow disk. */
const MAX_VISITED = 50_000;

function fold(text: string): string {
  return text.normalize("NFC").toLowerCase();
}

/** Walks the drive breadth first; `isComplete` is false when it was too large to visit whole. */
async function collect(
  start: readonly string[],
  wanted: (entry: DriveEntry) => boolean,
  { connection, signal }: ActionContext,
) {
  const found: DriveEntry[] = [];
  const open: (readonly string[])[] = [start];
  let visited = 0;
  for (let parts = open.shift(); parts !== undefined; parts = open.shift()) {
    for (const entry of await readEntries(connection, parts, { field: "folder", includeHidden: false })) {
      signal.throwIfAborted();
      visited += 1;
      if (visited > MAX_VISITED) return { found, isComplete: false };
      if (wanted(entry)) found.push(entry);
      if (entry.type === "folder") open.push([...parts, entry.name]);
    }
  }
  return { found, isComplete: true };
}

/** `drive_search_files`. */
export const searchFiles = defineAction({
  id: "search_files",
  title: "Search files",
  description:
    "Finds files and folders by name, in the whole drive or below one folder. Every word of the query must occur in the path; case does not matter. Newest first.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
  scopes: ["drive.read"],
  arguments: z.strictObject({
    query: z.string().min(1).max(200).describe('Words that must occur in the path, for example "invoice 2026".'),
    folder: z.string().default("").describe("Search only below this folder; empty for the whole drive."),
    type: z.enum(["any", "file", "folder"]).default("any").describe("What to look for."),
    modified_after: z.iso.date().optional().describe("Only what changed on or after this day (UTC), YYYY-MM-DD."),
    limit: z.int().min(1).max(100).default(20).describe("Most entries in one answer."),
  }),
  examples: [{ query: "invoice" }, { query: "photo beach", type: "file", modified_after: "2026-06-01" }],
  async run({ query, folder, type, modified_after, limit }, context) {
    const words = fold(query)
      .split(/\s+/)
      .filter((word) => word !== "");
    const since = modified_after === undefined ? "" : modified_after;
    const { found, isComplete } = await collect(
      parseFolderPath(folder, "folder"),
      (entry) =>
        (type === "any" || entry.type === type) &&
        entry.modified >= since &&
        words.every((word) => fold(entry.path).includes(word)),
      context,
    );
    found.sort((a, b) => b.modified.localeCompare(a.modified) || a.path.localeCompare(b.path));
    return {
      query,
      entries: found.slice(0, limit),
      total: found.length,
      ...(isComplete
        ? {}
        : { incomplete: `Only the first ${MAX_VISITED} entries were searched; name a folder to search the rest.` }),
    };
  },
});
