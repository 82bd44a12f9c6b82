import { createHash } from "node:crypto";
import { isText, MAX_JUDGED_BYTES } from "../../../shared/wire/file.ts";
import { openMediaFile, readPieces } from "../../media/open/open-media-file.ts";
import type { MediaRoots } from "../../media/open/roots.ts";
import type { InspectedFile } from "../../media/send/inspect-files.ts";

/** Reads the local text files of a call again, as they were inspected; others, longer and changed ones are left out. */
export async function readLocalTexts(
  roots: MediaRoots,
  files: readonly InspectedFile[],
): Promise<{ readonly argument: string; readonly text: string }[]> {
  const texts = files.map(async (file) => {
    const text = file.size <= MAX_JUDGED_BYTES && isText(file) ? await readText(roots, file) : undefined;
    return text === undefined ? [] : [{ argument: file.field, text }];
  });
  return (await Promise.all(texts)).flat();
}

async function readText(roots: MediaRoots, { reference, sha256 }: InspectedFile): Promise<string | undefined> {
  const opened = await openMediaFile(roots, reference);
  if ("refused" in opened) return undefined;
  try {
    const chunks: Uint8Array[] = [];
    const hash = createHash("sha256");
    for await (const piece of readPieces(opened.file)) {
      if (typeof piece === "string") return undefined;
      hash.update(piece.bytes);
      chunks.push(Uint8Array.from(piece.bytes));
    }
    return hash.digest("hex") === sha256 ? Buffer.concat(chunks).toString("utf8") : undefined;
  } finally {
    await opened.file.close();
  }
}
