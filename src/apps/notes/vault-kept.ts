import { z } from "zod";
import { localFolder } from "../port/connection-folder.ts";
import type { ConnectionView } from "../port/integration.ts";
import type { KeptWrite } from "../port/undo.ts";

/** Longest text that is kept, in bytes of JSON: the record of a write has room for 8 MB. */
const MAX_KEPT_BYTES = 8 * 1024 * 1024 - 16 * 1024;

/** Which file of which folder a write is about. */
const placeShape = {
  on: z.literal("vault"),
  /** The folder of the connection: its settings may name another one by now. */
  folder: z.string(),
  parents: z.array(z.string()),
  fileName: z.string(),
};

const createdSchema = z.object({
  ...placeShape,
  write: z.literal("create"),
  /** The `id` in its front matter, which no other page has. */
  id: z.string(),
  sha256: z.string(),
  /** How many of `parents`, the last ones, are made for it. */
  newFolders: z.int().min(0),
});
const changedSchema = z.object({
  ...placeShape,
  write: z.literal("change"),
  pageId: z.string(),
  /** The whole text; undefined where it is too long to be kept. */
  before: z.string().optional(),
  /** Hashes of the bytes. */
  was: z.string(),
  becomes: z.string(),
});
const removedSchema = z.object({
  ...placeShape,
  write: z.literal("remove"),
  sha256: z.string(),
  /** The folder of the trash that it goes to. */
  trash: z.array(z.string()),
  page: z.looseObject({ page_id: z.string(), title: z.string() }),
});
const intentSchema = z.discriminatedUnion("write", [createdSchema, changedSchema, removedSchema]);
/** `fileName`: the name that a new page got. */
const afterSchema = z.object({ fileName: z.string().optional() });

/** What a write of a vault keeps before it acts. */
export type VaultIntent = z.output<typeof intentSchema>;
/** How a new page is kept. */
export type CreatedPage = z.output<typeof createdSchema>;
/** How a change of a page is kept. */
export type ChangedFile = z.output<typeof changedSchema>;
/** How a deleted page is kept. */
export type RemovedFile = z.output<typeof removedSchema>;
/** How a write of a vault leaves things. */
export type VaultAfter = z.output<typeof afterSchema>;

/** A write as it was kept; a text says why it means nothing here: the connection shows other notes now. */
export function readVaultKept(
  { intent, after }: KeptWrite,
  { settings }: ConnectionView,
): { readonly intent: VaultIntent; readonly after: VaultAfter | undefined } | string {
  const read = intentSchema.safeParse(intent).data;
  if (read === undefined || read.folder !== localFolder.read(settings)) return "the account shows other notes now.";
  return { intent: read, after: after === undefined ? undefined : afterSchema.parse(after) };
}

/** True for a text that fits into the record of a write. */
export function fitsRecord(text: string): boolean {
  return Buffer.byteLength(JSON.stringify(text)) <= MAX_KEPT_BYTES;
}
