import { createHash } from "node:crypto";
import type { FileHandle } from "node:fs/promises";
import { z } from "zod";
import { MAX_FILE_BYTES } from "../../../wire/constants.ts";
import { parseEntryPath, withFile } from "../../files/folder.ts";

import { looksLikeText, sniffMimetype } from "../../files/sniff-mimetype.ts";
import { defineAction } from "../define-action.ts";
import type { ActionContext } from "../integration.ts";
import { describeEntry, driveFolder } from "./drive-folder.ts";

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

/** `drive_read_file`. */
export const readFile = defineAction({
  id: "read_file",
  title: "Read a file",
  description:
    "Returns a file's size, type, SHA-256 and, for text, its content. Other content is handed on as a file object that actions with a file field accept.",
  level: "read",
  requiresConfirmation: false,
  idempotent: true,
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
    return driveFolder.open(context.connection, { parts: parents, field: "path", name }, (folder) =>
      withFile(folder, name, async (handle, stats) => {
        const head = await readRange(handle, 0, Math.min(HEAD_BYTES, stats.size));
        const mimetype = await sniffMimetype(head, name);
        const facts = { ...describeEntry(parents, name, stats), mimetype, sha256: await hash(handle, context.signal) };
        if (!as_file && (await looksLikeText(head)))
          return { ...facts, ...(await readText(handle, stats.size, { offset, maxBytes: max_bytes })) };
        return { ...facts, ...(await keep(handle, { name, mimetype, size: stats.size }, context)) };
      }),
    );
  },
});
