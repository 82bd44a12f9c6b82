import { z } from "zod";
import type { AuthoredPart } from "../../shared/seen/evidence.ts";
import { createAuthors } from "../port/authored.ts";

const { yours } = createAuthors("contacts");

const contactSchema = z.looseObject({ name: z.string().optional().catch(undefined) });
const listSchema = z.looseObject({ contacts: z.array(z.unknown()).catch([]) });

/** A contact is the owner's, as they keep it. */
export function tellContact(result: unknown): AuthoredPart[] {
  return [yours("contact", result, { title: contactSchema.safeParse(result).data?.name })];
}

/** The contacts of a search. */
export function tellContacts(result: unknown): AuthoredPart[] {
  return (listSchema.safeParse(result).data?.contacts ?? []).flatMap(tellContact);
}
