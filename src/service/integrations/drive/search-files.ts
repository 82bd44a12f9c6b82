import { z } from "zod";
import { parseFolderPath } from "../../files/folder-path.ts";
import { defineAction } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import type { DriveEntry } from "./drive-folder.ts";
import { readEntries } from "./list-files.ts";

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
