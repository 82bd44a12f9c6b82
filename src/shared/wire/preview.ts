import { z } from "zod";
import { callLevelSchema } from "./call-level.ts";
import { readableItems } from "./tool.ts";

/** A thing that a call touches, by the name its owner knows it by. */
const previewObjectSchema = z.looseObject({
  /** Such as `page`, `event` or `file`. */
  kind: z.string(),
  name: z.string(),
  details: readableItems(z.looseObject({ label: z.string(), value: z.string() })).catch([]),
});
export type PreviewObject = z.infer<typeof previewObjectSchema>;

/** What one field was and becomes. `diff` is a text instead: a unified diff, whose lines that begin with `\` are notes. */
const previewChangeSchema = z.looseObject({
  field: z.string(),
  before: z.string().optional().catch(undefined),
  after: z.string().optional().catch(undefined),
  diff: z.string().optional().catch(undefined),
});
export type PreviewChange = z.infer<typeof previewChangeSchema>;

/** A consequence, as a sentence; `code` is one of an open list: `notifies replaces final sends_outside moves_many` and others. */
const previewEffectSchema = z.looseObject({ code: z.string(), text: z.string() });
export type PreviewEffect = z.infer<typeof previewEffectSchema>;

/** Whether a call can be taken back by the service, until when (ISO 8601), and what else is true of it, as a sentence. */
const previewUndoSchema = z.looseObject({
  possible: z.boolean(),
  until: z.string().optional().catch(undefined),
  why: z.string().optional().catch(undefined),
});
export type PreviewUndo = z.infer<typeof previewUndoSchema>;

/** What a call would do to what is there now, by reads alone. Ours: not in the document. At most 64 kB of JSON. */
export const previewSchema = z.looseObject({
  /** One sentence that a stranger understands, without ids, of at most 120 characters. */
  summary: z.string(),
  /** The first ten. */
  objects: readableItems(previewObjectSchema).catch([]),
  /** How many there are in all. */
  objectCount: z.int().min(0).catch(0),
  changes: readableItems(previewChangeSchema).catch([]),
  effects: readableItems(previewEffectSchema).catch([]),
  undo: previewUndoSchema.catch({ possible: false }),
  /** Opaque: another text once anything that was read is another. */
  state: z.string().min(1).max(200),
});
export type Preview = z.infer<typeof previewSchema>;

/** A file of a call that is only looked at: like one of an execute request, with size (bytes) and MD5 (hex) in place of its bytes. */
export const announcedFileSchema = z.looseObject({
  pointer: z.string(),
  name: z.string().catch(""),
  mimetype: z.string().catch(""),
  size: z.int().min(0).optional().catch(undefined),
  md5: z.string().toLowerCase().optional().catch(undefined),
});

/** Request body of `POST /api/tools/{name}/preview`. */
export const previewRequestSchema = z.looseObject({
  arguments: z.record(z.string(), z.unknown()).optional(),
  connectionId: z.union([z.int(), z.string()]).optional(),
  files: z.array(announcedFileSchema).optional(),
});
export type PreviewRequest = z.input<typeof previewRequestSchema>;

/** Answer of `POST /api/tools/{name}/preview`. */
export const previewReplySchema = z.looseObject({
  preview: previewSchema,
  /** What the call does beyond the level of its tool. */
  call_level: callLevelSchema,
});

/** `preview` of the answer to a call that was not confirmed; undefined where there is none. */
export const previewOfRefusalSchema = previewSchema.optional().catch(undefined);

/** Longest preview, in bytes of JSON. */
export const MAX_PREVIEW_BYTES = 64 * 1024;
/** Longest wait for a preview, in milliseconds. */
export const MAX_PREVIEW_MS = 5000;
