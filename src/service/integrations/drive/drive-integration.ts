import { createHash } from "node:crypto";
import { type FileHandle, readdir } from "node:fs/promises";
import { z } from "zod";
import { foldText, toSearchWords } from "../../../base/text.ts";
import { MAX_FILE_BYTES } from "../../../wire/constants.ts";
import { parseEntryPath, parseFolderPath, withFile } from "../../files/folder.ts";
import { looksLikeText, sniffMimetype } from "../../files/sniff-mimetype.ts";
import { UNFINISHED_PREFIX } from "../../files/write-file.ts";
import { describeEntry, type FolderEntry, localFolder, lookAtEntry } from "../connection-folder.ts";
import { type ActionContext, type ConnectionView, createActionDefiner, type Integration } from "../integration.ts";
import { createFolder, deleteFile, moveFile, uploadFile } from "./change-files.ts";

const defineDriveAction = createActionDefiner<ActionContext>();

/** Visible entries of one folder, folders first, then by name. */
async function readEntries(
  connection: ConnectionView,
  parts: readonly string[],
  options: { readonly field: string; readonly includeHidden: boolean },
): Promise<FolderEntry[]> {
  return localFolder.open(connection, { parts, field: options.field }, async (folder) => {
    const entries: FolderEntry[] = [];
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

const listFiles = defineDriveAction({
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

/** Walks the drive breadth first; `isComplete` is false when it was too large to visit whole. */
async function collect(
  start: readonly string[],
  wanted: (entry: FolderEntry) => boolean,
  { connection, signal }: ActionContext,
) {
  const found: FolderEntry[] = [];
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

const searchFiles = defineDriveAction({
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
  async run({ query, folder, type, modified_after = "", limit }, context) {
    const words = toSearchWords(query);
    const { found, isComplete } = await collect(
      parseFolderPath(folder, "folder"),
      (entry) =>
        (type === "any" || entry.type === type) &&
        entry.modified >= modified_after &&
        words.every((word) => foldText(entry.path).includes(word)),
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

const HEAD_BYTES = 64 * 1024;
async function* readAll(handle: FileHandle, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  const buffer = Buffer.allocUnsafe(256 * 1024);
  for (let at = 0; ; ) {
    signal.throwIfAborted();
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return;
    at += bytesRead;
    yield Buffer.from(buffer.subarray(0, bytesRead));
  }
}

async function readRange(handle: FileHandle, from: number, length: number): Promise<Buffer> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, from + filled);
    if (bytesRead === 0) break;
    filled += bytesRead;
  }
  return buffer.subarray(0, filled);
}

/** Cuts half characters off both ends; `skipped` says how many bytes went from the front. */
function trimToCharacters(bytes: Buffer, isEnd: boolean): { text: string; skipped: number; used: number } {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const body = bytes.subarray(start);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const text = decoder.decode(body, { stream: !isEnd });
  const used = isEnd ? body.length : Buffer.byteLength(text);
  return { text, skipped: start, used: start + Math.min(used, body.length) };
}

async function hash(handle: FileHandle, signal: AbortSignal): Promise<string> {
  const sha256 = createHash("sha256");
  for await (const piece of readAll(handle, signal)) sha256.update(piece);
  return sha256.digest("hex");
}

interface TextRange {
  readonly offset: number;
  readonly maxBytes: number;
}

async function readText(handle: FileHandle, size: number, { offset, maxBytes }: TextRange) {
  const bytes = await readRange(handle, offset, Math.min(maxBytes, Math.max(size - offset, 0)));
  const isEnd = offset + bytes.length >= size;
  const { text, used } = trimToCharacters(bytes, isEnd);
  return { text, ...(isEnd ? {} : { next_offset: offset + used }) };
}

async function keep(
  handle: FileHandle,
  file: { name: string; mimetype: string; size: number },
  context: ActionContext,
) {
  const { name, mimetype, size } = file;
  if (context.keepFile === undefined) return { note: "The content is not text; only its description is returned." };
  if (size > MAX_FILE_BYTES)
    return { note: "The file is larger than 25 MB, so it cannot be handed to another action." };
  const { s3key } = await context.keepFile({ name, mimetype }, readAll(handle, context.signal));
  return {
    file: { name, mimetype, s3key },
    note: "Pass `file` to an action that takes a file, for example as an attachment.",
  };
}

const readFile = defineDriveAction({
  id: "read_file",
  title: "Read a file",
  description:
    "Returns a file's size, type, SHA-256 and, for text, its content. Other content is handed on as a file object that actions with a file field accept.",
  level: "read",
  scopes: ["drive.read"],
  arguments: z.strictObject({
    path: z.string().min(1).describe('File relative to the drive, for example "Reports/2026/march.md".'),
    offset: z.int().min(0).default(0).describe("Byte to start reading text from; see next_offset of the answer."),
    max_bytes: z.int().min(16).max(200_000).default(40_000).describe("Most bytes of text in one answer."),
    as_file: z.boolean().default(false).describe("Hand a text file on as a file object instead of returning its text."),
  }),
  examples: [{ path: "Reports/2026/march.md" }],
  async run({ path, offset, max_bytes, as_file }, context) {
    const { parents, name } = parseEntryPath(path, "path");
    return localFolder.open(context.connection, { parts: parents, field: "path", name }, (folder) =>
      withFile(folder, name, async (handle, stats) => {
        const head = await readRange(handle, 0, Math.min(HEAD_BYTES, stats.size));
        const mimetype = await sniffMimetype(head, name);
        const facts = {
          ...(await describeEntry(parents, name, stats)),
          mimetype,
          sha256: await hash(handle, context.signal),
        };
        if (!as_file && (await looksLikeText(head)))
          return { ...facts, ...(await readText(handle, stats.size, { offset, maxBytes: max_bytes })) };
        return { ...facts, ...(await keep(handle, { name, mimetype, size: stats.size }, context)) };
      }),
    );
  },
});

/** A folder of this machine as a drive. Setting: `folder`, an absolute path. */
export const driveIntegration: Integration = {
  slug: "drive",
  name: "Drive",
  description: "Files in a folder of the machine that runs the service.",
  category: "files",
  scopes: ["drive.read", "drive.write"],
  actions: [listFiles, searchFiles, readFile, uploadFile, createFolder, moveFile, deleteFile].map((action) =>
    action(async (context) => context),
  ),
  settingsForm: [
    {
      name: "folder",
      label: "Folder",
      kind: "folder",
      help: "Tools see this folder and everything below it, nothing else.",
    },
  ],
  async checkSettings(settings) {
    localFolder.read(settings);
  },
  testSettings: (settings) => localFolder.check(settings),
};
