import { parseEntryPath } from "../../service/files/folder.ts";
import { looksLikeText } from "../../service/files/sniff-mimetype.ts";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import type { FolderEntry } from "../port/connection-folder.ts";
import { tellFile } from "./authored-file.ts";
import type { Drive } from "./drive.ts";

/** Names that are told, and of the newest files the texts: how many, and in bytes all together. */
const MOST = {
  here: { names: 10_000, texts: 1000, bytes: 8 * 1024 * 1024 },
  remote: { names: 2000, texts: 20, bytes: 1024 * 1024 },
};
/** Larger files are told by their names alone. */
const MAX_FILE = 256 * 1024;
const HEAD_BYTES = 4096;

/** Names of files and folders, newest first, then texts of small files. */
export async function* walkOwnFiles(
  drive: Drive,
  { signal, isRemote }: { readonly signal: AbortSignal; readonly isRemote: boolean },
): AsyncGenerator<AuthoredPart, void, undefined> {
  const most = isRemote ? MOST.remote : MOST.here;
  const entries: FolderEntry[] = [];
  for await (const entry of drive.walk({ parts: [], field: "folder", notShown: [] })) {
    if (signal.aborted || entries.push(entry) >= most.names) break;
  }
  entries.sort((a, b) => (b.modified ?? "").localeCompare(a.modified ?? ""));
  for (const { path, type, modified } of entries) {
    if (signal.aborted) return;
    yield* tellFile({ path, type, modified });
  }
  let { texts, bytes } = most;
  for (const entry of entries) {
    if (signal.aborted || texts <= 0 || bytes <= 0) return;
    if (entry.type !== "file" || !entry.size || entry.size > Math.min(MAX_FILE, bytes)) continue;
    texts -= 1;
    const text = await readText(drive, entry).catch(() => undefined);
    if (text === undefined) continue;
    bytes -= entry.size;
    yield* tellFile({ path: entry.path, modified: entry.modified, text });
  }
}

/** The text of a file; undefined for what is none. */
async function readText(drive: Drive, { path }: FolderEntry): Promise<string | undefined> {
  const bytes = await drive.read({ ...parseEntryPath(path, "path"), field: "path" }, async ({ entry, read }) => {
    const pieces: Uint8Array[] = [];
    for await (const piece of read(0, Math.min(entry.size, MAX_FILE))) pieces.push(piece);
    return Buffer.concat(pieces);
  });
  if (await looksLikeText(bytes.subarray(0, HEAD_BYTES))) return bytes.toString("utf8");
  const { decodePiece, findCharset } = await import("../text/decode-text.ts");
  const charset = findCharset(bytes.subarray(0, HEAD_BYTES));
  return charset && decodePiece(bytes, { charset, isEnd: true }).text;
}
