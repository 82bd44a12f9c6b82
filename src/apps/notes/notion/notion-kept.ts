import { z } from "zod";
import type { KeptWrite } from "../../port/undo.ts";

const summarySchema = z.looseObject({ page_id: z.string(), title: z.string() });
const placeSchema = z.object({ kind: z.enum(["page", "data_source"]), id: z.string() });
const createdSchema = z.object({
  on: z.literal("notion"),
  write: z.literal("create"),
  /** Milliseconds since the epoch. */
  at: z.number(),
  /** The last place on its way that was there, and the titles of the pages that are made below. */
  place: placeSchema,
  missing: z.array(z.string()),
  title: z.string(),
  tags: z.array(z.string()),
  markdown: z.string(),
  /** Pages that were at `place` before; undefined where there is too much to look through. */
  known: z.array(z.string()).optional(),
  /** When the newest of them was made, as Notion said. */
  since: z.string().optional(),
});
const changedSchema = z.object({
  on: z.literal("notion"),
  write: z.literal("change"),
  id: z.string(),
  title: z.string(),
  /** See `hashNotionPage`. */
  was: z.string(),
  /** Values to be set and those that are there, by name, as a request takes them; null for one that it would not take. */
  values: z.record(z.string(), z.unknown()),
  oldValues: z.record(z.string(), z.unknown()),
  /** See `hashOtherValues`. */
  others: z.string(),
  before: z.object({ title: z.string(), tags: z.array(z.string()), properties: z.record(z.string(), z.unknown()) }),
  /** In the front block afterwards. */
  tags: z.array(z.string()),
  /** Hash of the words of the text afterwards. */
  words: z.string(),
  /** False where the page before and afterwards cannot be told apart by values and words. */
  isTold: z.boolean(),
  /** The whole old text, where it is changed; `isReplaced`: all of it. */
  text: z.object({ raw: z.string(), isReplaced: z.boolean() }).optional(),
  /** Why it cannot be taken back. */
  final: z.string().optional(),
});
const removedSchema = z.object({
  on: z.literal("notion"),
  write: z.literal("remove"),
  id: z.string(),
  /** When it was last changed, as Notion said. */
  edited: z.string(),
  page: summarySchema,
});
const intentSchema = z.discriminatedUnion("write", [createdSchema, changedSchema, removedSchema]);
const afterSchema = z.object({
  id: z.string(),
  /** See `hashNotionPage`; undefined of a deleted page, and where it could not be read. */
  hash: z.string().optional(),
  edited: z.string(),
});

/** A place of Notion in which a new page is looked for. */
export type KeptPlace = z.output<typeof placeSchema>;
/** What a new page keeps before it is made. */
export type KeptPage = z.output<typeof createdSchema>;
/** What a change keeps before it is made. */
export type KeptChange = z.output<typeof changedSchema>;
/** What a page keeps before it is deleted. */
export type KeptRemoval = z.output<typeof removedSchema>;
/** What a write in Notion keeps before it acts. */
export type NotionIntent = z.output<typeof intentSchema>;
/** How a write in Notion leaves its page. */
export type NotionAfter = z.output<typeof afterSchema>;

/** A write as it was kept; undefined where it was made in other notes. */
export function readNotionKept({
  intent,
  after,
}: KeptWrite): { readonly intent: NotionIntent; readonly after: NotionAfter | undefined } | undefined {
  const read = intentSchema.safeParse(intent).data;
  if (read === undefined) return undefined;
  return { intent: read, after: after === undefined ? undefined : afterSchema.parse(after) };
}
