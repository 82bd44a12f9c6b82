import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";

const { yours } = createAuthors("notes");

const text = z.string().optional().catch(undefined);
const pageSchema = z.looseObject({ title: text, modified: text });
const listSchema = z.looseObject({ pages: z.array(z.unknown()).catch([]) });

/** A page is the owner's. */
export function tellPage(result: unknown): AuthoredPart[] {
  const { title, modified } = pageSchema.safeParse(result).data ?? {};
  return [yours("note", result, { title, at: modified })];
}

/** The pages of a list. */
export function tellPages(result: unknown): AuthoredPart[] {
  return (listSchema.safeParse(result).data?.pages ?? []).flatMap(tellPage);
}
