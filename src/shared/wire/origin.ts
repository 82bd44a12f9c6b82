import { z } from "zod";
import { readableItems } from "./tool.ts";

/** Whose a value is; the first that is true counts. Another word of a newer service reads as `unseen`. */
const originOf = z.enum(["you", "yours", "somebody", "unseen"]).catch("unseen");

/** Where a value was seen first. */
const originSourceSchema = z.looseObject({
  /** Slug of the app whose tool answered with it. */
  app: z.string().catch(""),
  /** Such as `mail`, `quoted mail`, `invitation`, `feed`, `page`, `contact`, `note`, `file` or `answer`. */
  kind: z.string().catch("answer"),
  /** Who wrote it, as the app says: a sender, an organizer, a feed. */
  by: z.string().optional().catch(undefined),
  title: z.string().optional().catch(undefined),
  /** ISO 8601. */
  at: z.string().optional().catch(undefined),
});
/** Where a value was seen first, in facts that an app tells. */
export type OriginSource = z.infer<typeof originSourceSchema>;

const PLACES: ReadonlySet<string> = new Set(["address", "link", "host", "account"]);

/** True for a value that something can be sent to. */
export function isPlace({ kind }: Pick<Origin, "kind">): boolean {
  return PLACES.has(kind);
}

const SURE_KINDS: ReadonlySet<string> = new Set(["account", "contact", "sent mail", "subscription"]);

/** True for a text of the owner's, which anybody may have brought a value into: it is not one of their people and accounts. */
export function isOnlyNamed({ kind }: Pick<OriginSource, "kind">): boolean {
  return !SURE_KINDS.has(kind);
}

/** Where one value of a call comes from. Ours: not in the document. */
const originSchema = z.looseObject({
  /** Path of the argument that it stands in, such as `to[0]`, `body` or `file`. */
  argument: z.string(),
  /** The value, or the part of a text that is judged, as it is sent; at most 200 characters. */
  value: z.string(),
  /** `address host link phone account amount number date path name text`, or another of an open list. */
  kind: z.string().catch("text"),
  /**
   * `you`: typed by the human, as the device says; `yours`: of their own data; `somebody`: brought by somebody else; `unseen`:
   * nowhere in what was looked at.
   */
  origin: originOf,
  source: originSourceSchema.optional().catch(undefined),
  /** A known address or host that it could be taken for. */
  looks_like: z.string().optional().catch(undefined),
  /** True where something goes: a recipient, a link that is opened, an account that is paid. */
  sink: z.boolean().catch(false),
});
export type Origin = z.infer<typeof originSchema>;

/** `origins` of an answer: sinks first; empty where nobody looked. */
export const originsSchema = readableItems(originSchema).catch([]);

/** Most origins of one call. */
export const MAX_ORIGINS = 100;

/** Most values of {@link saidSchema}. */
export const MAX_SAID = 100;
/** The longest of them, in characters. */
export const MAX_SAID_CHARS = 200;

/**
 * `said` of a request: values of its arguments that stand in the words of the human, as the device says; unreadable ones are left
 * out. Ours: not in the document.
 */
export const saidSchema = z
  .array(z.string())
  .transform((values) => values.filter(({ length }) => length <= MAX_SAID_CHARS).slice(0, MAX_SAID))
  .optional()
  .catch(undefined);

/** Members beside a preview, and in its place where there is none. Ours: not in the document. */
export const originMembers = {
  /** Undefined where nobody looked. */
  origins: originsSchema.optional(),
  /** True where not all of the owner's data could be looked at. */
  origins_partial: z.boolean().optional().catch(undefined),
};
