import { createHash, type Hash } from "node:crypto";
import { z } from "zod";
import { parseEntryPath } from "../../service/files/folder.ts";
import { looksLikeText, sniffMimetype } from "../../service/files/sniff-mimetype.ts";
import { sha256Hex } from "../../shared/base/hash.ts";
import { MAX_FILE_BYTES } from "../../shared/wire/constants.ts";
import type { ActionContext } from "../port/integration.ts";
import { sayNotShown } from "../port/not-shown.ts";
import type { OldCharset } from "../text/decode-text.ts";
import { type Drive, type DriveFile, defineDriveAction } from "./drive.ts";

const HEAD_BYTES = 64 * 1024;

/** A file whose first bytes were read. */
interface OpenedFile extends DriveFile {
  readonly head: Uint8Array;
}

async function gather(file: DriveFile, from: number, length: number): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of file.read(from, length)) pieces.push(piece);
  return Buffer.concat(pieces);
}

/** Cuts half characters off both ends; `used` says how many bytes were read, those cut off in front included. */
function trimToCharacters(bytes: Buffer, isEnd: boolean): { text: string; used: number } {
  let start = 0;
  while (start < Math.min(3, bytes.length) && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  const body = bytes.subarray(start);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const text = decoder.decode(body, { stream: !isEnd });
  const used = isEnd ? body.length : Buffer.byteLength(text);
  return { text, used: start + Math.min(used, body.length) };
}

async function* readAll(file: DriveFile, hash: Hash, signal: AbortSignal): AsyncGenerator<Uint8Array, void, undefined> {
  for await (const piece of file.read(0, file.entry.size)) {
    signal.throwIfAborted();
    hash.update(piece);
    yield piece;
  }
}

async function hashFile(file: OpenedFile, { maxHashed }: Drive, signal: AbortSignal): Promise<{ sha256?: string }> {
  const { size } = file.entry;
  if (file.head.length === size) return { sha256: sha256Hex(file.head) };
  if (size > maxHashed) return {};
  const sha256 = createHash("sha256");
  for await (const _ of readAll(file, sha256, signal));
  return { sha256: sha256.digest("hex") };
}

/** Undefined for what is no text. */
async function readCharset(head: Uint8Array): Promise<"utf-8" | OldCharset | undefined> {
  return (await looksLikeText(head)) ? "utf-8" : (await import("../text/decode-text.ts")).findCharset(head);
}

async function readText(
  file: OpenedFile,
  {
    offset,
    maxBytes,
    charset,
  }: { readonly offset: number; readonly maxBytes: number; readonly charset: "utf-8" | OldCharset },
) {
  const { size } = file.entry;
  const length = Math.min(maxBytes, Math.max(size - offset, 0));
  const isRead = offset + length <= file.head.length;
  const bytes = isRead ? Buffer.from(file.head.subarray(offset, offset + length)) : await gather(file, offset, length);
  const isEnd = offset + bytes.length >= size;
  if (charset === "utf-8") {
    const { text, used } = trimToCharacters(bytes, isEnd);
    return { text, ...(isEnd ? {} : { next_offset: offset + used }) };
  }
  const { decodePiece, GUESSED } = await import("../text/decode-text.ts");
  const { text, used } = decodePiece(bytes, { charset, isEnd });
  const why = charset === "windows-1252" ? [{ where: file.entry.path, why: GUESSED }] : [];
  return { text, ...(isEnd ? {} : { next_offset: offset + used }), ...sayNotShown(why) };
}

async function keep(file: OpenedFile, mimetype: string, drive: Drive, { keepFile, signal }: ActionContext) {
  const { name, size } = file.entry;
  if (keepFile === undefined || size > MAX_FILE_BYTES) {
    const note =
      keepFile === undefined
        ? "The content is not text; only its description is returned."
        : "The file is larger than 25 MB, so it cannot be handed to another action.";
    return { ...(await hashFile(file, drive, signal)), note };
  }
  const sha256 = createHash("sha256");
  const { s3key } = await keepFile({ name, mimetype }, readAll(file, sha256, signal));
  return {
    sha256: sha256.digest("hex"),
    file: { name, mimetype, s3key },
    note: "Pass `file` to an action that takes a file, for example as an attachment.",
  };
}

/** `drive_read_file`. */
export const readFile = defineDriveAction({
  id: "read_file",
  title: "Read a file",
  description:
    "Returns a file's size, type, SHA-256 and, for text, its content. Other content is handed on as a file object that actions with a file field accept. Of a file above 25 MB on another machine there is no SHA-256.",
  level: "read",
  scopes: ["drive.read"],
  arguments: z.strictObject({
    path: z.string().min(1).describe('File relative to the drive, for example "Reports/2026/march.md".'),
    offset: z.int().min(0).default(0).describe("Byte to start reading text from; see next_offset of the answer."),
    max_bytes: z.int().min(16).max(200_000).default(40_000).describe("Most bytes of text in one answer."),
    as_file: z.boolean().default(false).describe("Hand a text file on as a file object instead of returning its text."),
  }),
  examples: [{ path: "Reports/2026/march.md" }],
  async run({ path, offset, max_bytes, as_file }, drive, context) {
    return drive.read({ ...parseEntryPath(path, "path"), field: "path" }, async ({ entry, read }) => {
      const closed = { entry, read };
      const file = { ...closed, head: await gather(closed, 0, Math.min(HEAD_BYTES, entry.size)) };
      const mimetype = await sniffMimetype(file.head, entry.name);
      const facts = { ...entry, mimetype };
      const charset = as_file ? undefined : await readCharset(file.head);
      if (charset === undefined) return { ...facts, ...(await keep(file, mimetype, drive, context)) };
      const hashed = await hashFile(file, drive, context.signal);
      return { ...facts, ...hashed, ...(await readText(file, { offset, maxBytes: max_bytes, charset })) };
    });
  },
});
