import type { MediaFile } from "./open-media-file.ts";

/** Bytes of every piece but the last. A multiple of 3, so that the pieces' base64 texts make up the file's. */
export const PIECE_BYTES = 240 * 1024;

/** A part of a file. */
export interface FilePiece {
  /** The memory is used again for the next piece but one. */
  readonly bytes: Buffer;
  /** Hex SHA-256 of the bytes; found on another thread. Never rejects. */
  readonly digest: Promise<string>;
}

/** Why there are no more pieces, though the file is not at its end. */
export type PieceFailure = "unreadable" | "shortened";

/**
 * An open file in pieces of 240 KiB. While one is worked with, the next is read and digested on other threads: two
 * buffers, whatever the size. A failure is the last thing to come.
 */
export async function* readPieces(
  file: Pick<MediaFile, "size" | "read">,
): AsyncGenerator<FilePiece | PieceFailure, undefined> {
  const count = Math.ceil(file.size / PIECE_BYTES);
  const buffers = Array.from({ length: Math.min(count, 2) }, () =>
    Buffer.allocUnsafe(Math.min(PIECE_BYTES, file.size)),
  );
  const read = async (index: number): Promise<FilePiece | PieceFailure> => {
    const at = index * PIECE_BYTES;
    const bytes = buffers[index % 2]?.subarray(0, file.size - at) ?? Buffer.alloc(0);
    const got = await file.read(bytes, at).catch(() => undefined);
    if (got === undefined) return "unreadable";
    return got < bytes.length ? "shortened" : { bytes, digest: digestBytes(bytes) };
  };
  let next = count > 0 ? read(0) : undefined;
  try {
    for (let index = 1; next !== undefined; index += 1) {
      const piece = await next;
      next = typeof piece !== "string" && index < count ? read(index) : undefined;
      yield piece;
    }
  } finally {
    // Nobody closes the file under a reading.
    await next;
  }
  return undefined;
}

async function digestBytes(bytes: Uint8Array<ArrayBuffer>): Promise<string> {
  return Buffer.from(await crypto.subtle.digest("SHA-256", bytes)).toString("hex");
}
