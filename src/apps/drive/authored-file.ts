import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";

const { yours } = createAuthors("drive");

const text = z.string().optional().catch(undefined);
const fileSchema = z.looseObject({ path: text, modified: text });
const listSchema = z.looseObject({ entries: z.array(z.unknown()).catch([]) });

/** A file or folder of the drive is the owner's, with its text. */
export function tellFile(result: unknown): AuthoredPart[] {
  const { path, modified } = fileSchema.safeParse(result).data ?? {};
  return [yours("file", result, { title: path, at: modified })];
}

/** The files of a list. */
export function tellFiles(result: unknown): AuthoredPart[] {
  return (listSchema.safeParse(result).data?.entries ?? []).flatMap(tellFile);
}
