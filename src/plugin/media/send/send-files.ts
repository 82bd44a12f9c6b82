import type { ConnectionId } from "../../../shared/wire/execution.ts";
import type { RequestBody } from "../../client/request.ts";
import { refuseMedia, toMediaError } from "../media-refusal.ts";
import { type MediaFile, openMediaFile, PIECE_BYTES, readPieces } from "../open/open-media-file.ts";
import type { MediaRoots } from "../open/roots.ts";
import { fillFileArguments, type InspectedFile } from "./inspect-files.ts";

/** Members of an execute request besides `files` ("Execution (tool-name model)"). */
export interface FilesRequest {
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly connectionId?: ConnectionId | undefined;
  readonly confirmed?: boolean | undefined;
}

// A multiple of 3 that gives strings short enough for the fast heap; windows above 96 KiB are three times slower.
const WINDOW_BYTES = 60 * 1024;
const MD5_HEX_LENGTH = 32;

/**
 * The execute request with a `files` envelope ("File rules" 6, 7) as a stream of known length in flat memory. Each
 * open() reads the files again and checks them against the inspection: a different one ends the stream with an error,
 * before the body is complete. The memory of a large chunk is reused by the second large one after it.
 *
 * The stream throws SvcError `file_missing` or `media_refused` with the field.
 */
export function createFilesBody(
  request: FilesRequest,
  files: readonly InspectedFile[],
  roots: MediaRoots,
  onBytes?: OnBytes,
): RequestBody {
  const distinct = [...Map.groupBy(files, ({ pointer }) => pointer).values()].flatMap((equal) => equal.slice(0, 1));
  const { connectionId, confirmed } = request;
  const head = JSON.stringify({ arguments: fillFileArguments(request.arguments, files), connectionId, confirmed });
  const entries = distinct.map((file, index) => ({ file, ...frameEntry(file, index) }));
  const open = `${head.slice(0, -1)},"files":[`;
  const frame = entries.map((entry) => Buffer.byteLength(entry.before + entry.between + entry.after) + MD5_HEX_LENGTH);
  const data = distinct.map((file) => 4 * Math.ceil(file.size / 3));
  const contentLength = [...frame, ...data].reduce((sum, bytes) => sum + bytes, Buffer.byteLength(open) + 2);
  async function* stream(): AsyncGenerator<Uint8Array> {
    const encode = createBase64Encoder();
    yield Buffer.from(open);
    for (const { file, before, between, after } of entries) {
      yield Buffer.from(before);
      for await (const piece of countBytes(readInspected(file, roots), file, onBytes)) yield encode(piece);
      yield Buffer.from(between + file.md5 + after);
    }
    yield Buffer.from("]}");
  }
  return { contentType: "application/json", contentLength, open: stream };
}

/** Told when a file is begun, with 0, and when a piece of it was taken to be sent, with its bytes so far. */
export type OnBytes = (file: InspectedFile, sentBytes: number) => void;

/** Tells `onBytes` of each piece once it was taken. */
export async function* countBytes(
  pieces: AsyncIterable<Buffer>,
  file: InspectedFile,
  onBytes: OnBytes | undefined,
): AsyncGenerator<Buffer> {
  let sent = 0;
  onBytes?.(file, sent);
  for await (const piece of pieces) {
    yield piece;
    // Asked for more: the piece before was taken. Its memory may be used again by now.
    sent += piece.length;
    onBytes?.(file, sent);
  }
}

/** Text around the data of one `files[]` entry; data goes after `before`, the digest after `between`. */
function frameEntry(file: InspectedFile, index: number): { before: string; between: string; after: string } {
  const { pointer, name, mimetype } = file;
  const start = JSON.stringify({ pointer, name, mimetype }).slice(0, -1);
  return { before: `${index === 0 ? "" : ","}${start},"dataBase64":"`, between: '","md5":"', after: '"}' };
}

/**
 * The bytes of an inspected file, in pieces of 480 KiB, each checked by its tag first: every byte was there at the
 * inspection. Ends normally only with size and time unchanged, too. The next piece may reuse a piece's memory.
 */
export async function* readInspected(file: InspectedFile, roots: MediaRoots): AsyncGenerator<Buffer> {
  const opened = await openMediaFile(roots, file.reference);
  if ("refused" in opened) throw toMediaError(refuseMedia(opened.refused, file.field));
  const changed = () => toMediaError(refuseMedia("file_changed", file.field));
  const { file: source } = opened;
  try {
    if (source.size !== file.size || source.mtimeNs !== file.mtimeNs) throw changed();
    // Touched, or replaced with its old time: checked before the first byte leaves, not in the middle.
    if (source.ctimeNs !== file.ctimeNs && !(await hasSamePieces(source, file))) throw changed();
    let index = 0;
    for await (const piece of readPieces(source)) {
      if (piece === "unreadable") throw toMediaError(refuseMedia("unreadable", file.field));
      if (piece === "shortened" || piece.tag !== file.pieces[index]) throw changed();
      index += 1;
      if (index === file.pieces.length && !(await source.isUnchanged())) throw changed();
      yield piece.bytes;
    }
  } finally {
    await source.close();
  }
}

async function hasSamePieces(source: MediaFile, { pieces }: InspectedFile): Promise<boolean> {
  let index = 0;
  for await (const piece of readPieces(source)) {
    if (typeof piece === "string" || piece.tag !== pieces[index]) return false;
    index += 1;
  }
  return index === pieces.length;
}

/**
 * Gives a piece's base64 text. Full pieces are written into two buffers in turn: a new one for each would wait for the
 * next collection, and memory with it. undici asks for more when the socket has taken a full piece, but may do so while
 * the socket still holds a shorter one, so that those have memory of their own.
 */
function createBase64Encoder(): (piece: Buffer) => Uint8Array {
  let [idle, sent]: (Buffer | undefined)[] = [];
  return (piece) => {
    const length = 4 * Math.ceil(piece.length / 3);
    if (piece.length < PIECE_BYTES) return writeBase64(piece, Buffer.allocUnsafeSlow(length));
    const encoded = idle ?? Buffer.allocUnsafeSlow(length);
    [idle, sent] = [sent, encoded];
    return writeBase64(piece, encoded);
  };
}

function writeBase64(piece: Buffer, into: Buffer): Uint8Array {
  let filled = 0;
  for (let at = 0; at < piece.length; at += WINDOW_BYTES) {
    const text = piece.toString("base64", at, Math.min(at + WINDOW_BYTES, piece.length));
    filled += into.write(text, filled, "latin1");
  }
  return into;
}
