import type { MediaFile } from "./open-media-file.ts";
import { tagPiece } from "./piece-tag.ts";

/** Bytes of every piece but the last. A multiple of 3, so that the pieces' base64 texts make up the file's. */
export const PIECE_BYTES = 480 * 1024;

/** A part of a file. */
export interface FilePiece {
  /** The memory is used again, by the next piece but one or another reading: done with when the next is asked for. */
  readonly bytes: Buffer;
  /** As {@link tagPiece} gives it. */
  readonly tag: string;
}

/** Why there are no more pieces, though the file is not at its end. */
export type PieceFailure = "unreadable" | "shortened";

/** Two full buffers of a reading that has ended, for the next one: fresh memory costs a fault for each of its pages. */
let spare: readonly Buffer[] | undefined;

/**
 * An open file in pieces of 480 KiB. While one is worked with, the next is read on another thread: two buffers,
 * whatever the size. A failure is the last thing to come.
 */
export async function* readPieces(
  file: Pick<MediaFile, "size" | "read">,
): AsyncGenerator<FilePiece | PieceFailure, undefined> {
  const count = Math.ceil(file.size / PIECE_BYTES);
  const buffers = takeBuffers(file.size);
  const read = async (index: number): Promise<Buffer | PieceFailure> => {
    const at = index * PIECE_BYTES;
    const bytes = buffers[index % 2]?.subarray(0, file.size - at) ?? Buffer.alloc(0);
    const got = await file.read(bytes, at).catch(() => undefined);
    if (got === undefined) return "unreadable";
    return got < bytes.length ? "shortened" : bytes;
  };
  let next = count > 0 ? read(0) : undefined;
  try {
    for (let index = 1; next !== undefined; index += 1) {
      const piece = await next;
      next = typeof piece !== "string" && index < count ? read(index) : undefined;
      yield typeof piece === "string" ? piece : { bytes: piece, tag: tagPiece(piece) };
    }
  } finally {
    // Nobody closes the file under a reading, or reads another one into its memory.
    await next;
    if (buffers.length === 2) spare = buffers;
  }
  return undefined;
}

function takeBuffers(size: number): readonly Buffer[] {
  if (size <= PIECE_BYTES) return [Buffer.allocUnsafe(size)];
  const taken = spare ?? [Buffer.allocUnsafeSlow(PIECE_BYTES), Buffer.allocUnsafeSlow(PIECE_BYTES)];
  spare = undefined;
  return taken;
}
