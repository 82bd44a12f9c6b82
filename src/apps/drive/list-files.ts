import { z } from "zod";
import { parseFolderPath } from "../../service/files/folder.ts";
import { foldText, toSearchWords } from "../../shared/base/text.ts";
import type { FolderEntry } from "../port/connection-folder.ts";
import { type NotShown, sayNotShown } from "../port/not-shown.ts";
import { defineDriveAction, isHidden, isUnfinished } from "./drive.ts";

/** Bounds memory and time: a hundred pages of a bucket, some seconds on a slow disk. */
const MAX_LISTED = 100_000;

/** `drive_list_files`. */
export const listFiles = defineDriveAction({
  id: "list_files",
  title: "List files",
  description:
    "Lists files and folders of one folder of the drive, folders first. Symbolic links and names that begin with a dot are left out.",
  level: "read",
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
  async run({ folder, include_hidden, offset, limit }, drive) {
    const parts = parseFolderPath(folder, "folder");
    const all: FolderEntry[] = [];
    let isComplete = true;
    const notShown: NotShown[] = [];
    for await (const entry of drive.list({ parts, field: "folder", notShown })) {
      if (isUnfinished(entry.name) || (isHidden(entry.name) && !include_hidden)) continue;
      isComplete = all.push(entry) < MAX_LISTED;
      if (!isComplete) break;
    }
    all.sort((a, b) => (a.type === b.type ? a.name.localeCompare(b.name, "en") : a.type === "folder" ? -1 : 1));
    const entries = all.slice(offset, offset + limit);
    const end = offset + entries.length;
    return {
      folder: parts.join("/"),
      entries,
      total: all.length,
      ...(end < all.length ? { next_offset: end } : {}),
      ...(isComplete ? {} : { incomplete: `The folder has more than ${MAX_LISTED} entries; some are not listed.` }),
      ...sayNotShown(notShown),
    };
  },
});

/** Some seconds on a slow disk. */
const MAX_VISITED = 50_000;

/** `drive_search_files`. */
export const searchFiles = defineDriveAction({
  id: "search_files",
  title: "Search files",
  description:
    "Finds files and folders by name, in the whole drive or below one folder. Every word of the query must occur in the path; case does not matter. Newest first.",
  level: "read",
  scopes: ["drive.read"],
  arguments: z.strictObject({
    query: z.string().min(1).max(200).describe('Words that must occur in the path, for example "invoice 2026".'),
    folder: z.string().default("").describe("Search only below this folder; empty for the whole drive."),
    type: z.enum(["any", "file", "folder"]).default("any").describe("What to look for."),
    modified_after: z.iso.date().optional().describe("Only what changed on or after this day (UTC), YYYY-MM-DD."),
    limit: z.int().min(1).max(100).default(20).describe("Most entries in one answer."),
  }),
  examples: [{ query: "invoice" }, { query: "photo beach", type: "file", modified_after: "2026-06-01" }],
  async run({ query, folder, type, modified_after = "", limit }, drive, { signal }) {
    const words = toSearchWords(query);
    const isWanted = (entry: FolderEntry) =>
      (type === "any" || entry.type === type) &&
      (entry.modified ?? "") >= modified_after &&
      words.every((word) => foldText(entry.path).includes(word));
    const found: FolderEntry[] = [];
    let visited = 0;
    const notShown: NotShown[] = [];
    for await (const entry of drive.walk({ parts: parseFolderPath(folder, "folder"), field: "folder", notShown })) {
      signal.throwIfAborted();
      visited += 1;
      if (visited > MAX_VISITED) break;
      if (isWanted(entry)) found.push(entry);
    }
    found.sort((a, b) => (b.modified ?? "").localeCompare(a.modified ?? "") || a.path.localeCompare(b.path));
    return {
      query,
      entries: found.slice(0, limit),
      total: found.length,
      ...(visited <= MAX_VISITED
        ? {}
        : { incomplete: `Only the first ${MAX_VISITED} entries were searched; name a folder to search the rest.` }),
      ...sayNotShown(notShown),
    };
  },
});
