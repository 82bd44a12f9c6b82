import { z } from "zod";
import { SIDE_EFFECT_LEVELS } from "./catalog.ts";

/** Most entries of one list. */
const MAX_ENTRIES = 200;
/** Most days a key may be good for. */
const MAX_KEY_DAYS = 3650;

const namesSchema = z.array(z.string().trim().min(1).max(200)).min(1).max(MAX_ENTRIES).optional();

/** Limits of a key; a missing member limits nothing. Ours: not in the document. */
export const keyScopesSchema = z.looseObject({
  /** Slugs of apps. */
  integrations: namesSchema,
  /** Side effects of tools. */
  levels: z.array(z.enum(SIDE_EFFECT_LEVELS)).min(1).max(SIDE_EFFECT_LEVELS.length).optional(),
  /** Patterns on tools, such as `mail_search` or `notes/*`. */
  tools: namesSchema,
  /** Ids of connections. */
  connections: namesSchema,
  /** Days from the approval on, up to ten years. */
  expiresInDays: z.int().min(1).max(MAX_KEY_DAYS).optional(),
  /** Who approves the calls of the key. */
  approvals: z.enum(["device", "owner"]).optional(),
});
export type KeyScopes = z.infer<typeof keyScopesSchema>;
