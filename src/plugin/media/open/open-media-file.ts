import { createCipheriv, randomBytes } from "node:crypto";
import { type PlaceBelowRoot, parseReference } from "../locate/parse-reference.ts";
import type { MediaRefusalCode } from "../media-refusal.ts";
import { type OpenedFile, openByIdentity, openByWalk } from "./open-below-root.ts";

import type { MediaRoots } from "./roots.ts";

/** An open file that passed every check. Its opener closes it. */
export interface MediaFile {
  readonly name: string;
  /** Bytes, 1 to 25 MiB. */
  readonly size: number;
  readonly mtimeNs: bigint;
  /** When anything about the file changed last; nobody can set this one. */
  readonly ctimeNs: bigint;
  /** True when the reference named a workspace copy of this file. */
  readonly isOriginal: boolean;
  /** Fills `into` from `position`, stopping early only at the end of the file; returns the bytes read. */
  read(into: Uint8Array, position: number): Promise<number>;
  /** True while the file still has the size and time it had when it was opened, and no byte more. */
  isUnchanged(): Promise<boolean>;
  close(): Promise<void>;
}

/** Time for a program to remove the second name of a file it is publishing. */
const PUBLISH_PAUSE_MS = 50;

/**
 * Opens a referenced file and reads exactly the file that was checked, never by a path that could be swapped in
 * between. A file with two names may be in the middle of being published (link, then unlink): it is checked again once.
 */
export async function openMediaFile(
  roots: MediaRoots,
  reference: unknown,
): Promise<{ readonly file: MediaFile } | { readonly refused: MediaRefusalCode }> {
  const parsed = parseReference(reference, roots);
  if (!parsed.ok) return { refused: parsed.code };
  let refused: MediaRefusalCode = "not_found";
  for (const place of parsed.places) {
    let opened = await openPlace(roots, place);
    if ("refused" in opened && opened.refused === "hardlink") {
      await roots.sleep(PUBLISH_PAUSE_MS);
      opened = await openPlace(roots, place);
    }
    if (!("refused" in opened)) return { file: toMediaFile(place, opened) };
    refused = opened.refused;
    if (refused !== "not_found") break;
  }
  return { refused };
}

function openPlace(roots: MediaRoots, place: PlaceBelowRoot): Promise<OpenedFile> {
  const anchor = place.root.anchor;
  return roots.mode === "walk" && anchor !== undefined
    ? openByWalk(anchor, place.components)
    : openByIdentity(place.root.canonical, place.components, roots.mode);
}

function toMediaFile(place: PlaceBelowRoot, { handle, stats }: Exclude<OpenedFile, { refused: unknown }>): MediaFile {
  const size = Number(stats.size);
  const read = async (into: Uint8Array, position: number) => {
    let filled = 0;
    while (filled < into.length) {
      const { bytesRead } = await handle.read(into, filled, into.length - filled, position + filled);
      if (bytesRead === 0) break;
      filled += bytesRead;
    }
    return filled;
  };
  const isUnchanged = async () => {
    if ((await read(new Uint8Array(1), size)) > 0) return false;
    const now = await handle.stat({ bigint: true });
    return now.size === stats.size && now.mtimeNs === stats.mtimeNs;
  };
  return {
    name: place.components.at(-1) ?? "file",
    size,
    mtimeNs: stats.mtimeNs,
    ctimeNs: stats.ctimeNs,
    isOriginal: place.isOriginal === true,
    read,
    isUnchanged,
    close: () => handle.close(),
  };
}

/** Bytes of every piece but the last. A multiple of 3, so that the pieces' base64 texts make up the file's. */
export const PIECE_BYTES = 480 * 1024;

interface FilePiece {
  /** Valid until the next piece is asked for; the memory is reused. */
  readonly bytes: Buffer;
  readonly tag: string;
}

/** Why there are no more pieces, though the file is not at its end. */
type PieceFailure = "unreadable" | "shortened";

/** Buffers of a finished reading, for the next one: fresh memory costs a page fault for each page. */
let spare: readonly Buffer[] | undefined;

/**
 * An open file in pieces of 480 KiB, the next one read ahead on another thread: two buffers for any size. A failure is
 * the last item.
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
    // The file stays open and its buffers taken until the read in flight has ended.
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

/** Known to this process alone, and gone with it. */
const KEY = randomBytes(32);
const NONCE = randomBytes(12);

/**
 * Identifies a piece within this process: its AES-GMAC (NIST SP 800-38D), 32 hex digits. Five times as fast as SHA-256
 * with plain instructions, twice with special ones, and it lets each piece be checked before it leaves. Tags say nothing
 * of order: compare them place by place.
 *
 * One nonce for all texts is safe only because nobody sees a tag: without tags a forged piece passes by chance alone, 1
 * in 2^113 per try. So tags must not leave the process; approvals and journals hold the file's SHA-256.
 */
export function tagPiece(bytes: Uint8Array): string {
  const gmac = createCipheriv("aes-256-gcm", KEY, NONCE);
  gmac.setAAD(bytes);
  gmac.final();
  return gmac.getAuthTag().toString("hex");
}
