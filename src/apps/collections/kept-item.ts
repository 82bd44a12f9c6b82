import { isUtf8 } from "node:buffer";
import { z } from "zod";
import { createKeeps, type Keeps } from "../port/define-action.ts";
import type { KeptWrite, UndoPlan, Verdict } from "../port/undo.ts";

const packedSchema = z.union([
  z.object({ utf8: z.string() }).transform(({ utf8 }) => Buffer.from(utf8)),
  z.object({ base64: z.base64() }).transform(({ base64 }) => Buffer.from(base64, "base64")),
]);

/** Bytes as JSON takes them: as text where they are text that is not longer so. */
export function packBytes(bytes: Buffer): z.input<typeof packedSchema> {
  const base64 = bytes.toString("base64");
  const utf8 = bytes.toString();
  return isUtf8(bytes) && Buffer.byteLength(JSON.stringify(utf8)) <= base64.length ? { utf8 } : { base64 };
}

const itemIntentSchema = z.object({
  write: z.enum(["create", "change", "remove", "answer"]),
  /** The item, also of one that is new. */
  id: z.string(),
  collection: z.object({ id: z.string(), name: z.string() }),
  /** What of it is meant, as sentences name it: in quotes. */
  called: z.string(),
  /** The item before; undefined for a new one. */
  before: z.object({ etag: z.string(), bytes: packedSchema }).optional(),
  /** The item afterwards; undefined for one that is removed. */
  written: packedSchema.optional(),
  /** Where a removed item can be found. */
  trashedTo: z.string().optional(),
  /** Which of several things in the item is meant, by its place there, and which of its times. */
  part: z.object({ index: z.int().min(0), instance: z.string().optional(), zone: z.string().optional() }),
});

const itemAfterSchema = z.object({
  /** Undefined for an item that is removed, and where nobody knows it. */
  etag: z.string().min(1).optional(),
});

/** What a write of an item was about to do. */
export type ItemIntent = z.output<typeof itemIntentSchema>;
/** The same as it is kept. */
export type PackedItemIntent = z.input<typeof itemIntentSchema>;
/** How a write left an item. */
export type ItemAfter = z.output<typeof itemAfterSchema>;
/** A kept write of an item. */
export type KeptItem = KeptWrite<ItemIntent, ItemAfter>;
/** Which thing in an item is meant. */
export type ItemPart = ItemIntent["part"];

/** A place whose writes of items can be taken back and looked for. */
export interface KeepsItems {
  /** See `Action.undo`. */
  planUndo(kept: KeptItem): Promise<UndoPlan>;
  /** See `Action.settle`. */
  settle(kept: KeptItem): Promise<Verdict>;
}

/** For each action that writes an item. */
export const keepsItems: Keeps<KeepsItems> = createKeeps({
  intent: itemIntentSchema,
  after: itemAfterSchema,
  undo: (kept, place: KeepsItems) => place.planUndo(kept),
  settle: (kept, place: KeepsItems) => place.settle(kept),
});
