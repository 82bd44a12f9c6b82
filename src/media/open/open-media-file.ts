import { type PlaceBelowRoot, parseReference } from "../locate/parse-reference.ts";
import type { MediaRefusalCode } from "../media-refusal.ts";
import { type OpenedFile, openByIdentity, openByWalk } from "./open-below-root.ts";

import type { MediaRoots } from "./roots.ts";

/** An open file that passed every check. Its opener closes it. */
export interface MediaFile {
  /** Last component of the path. */
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
