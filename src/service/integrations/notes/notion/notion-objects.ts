import { z } from "zod";

/** One run of text with one look. */
export const richTextSchema = z.looseObject({
  type: z.string(),
  plain_text: z.string(),
  href: z.string().nullish(),
  annotations: z
    .looseObject({
      bold: z.boolean().default(false),
      italic: z.boolean().default(false),
      strikethrough: z.boolean().default(false),
      code: z.boolean().default(false),
    })
    .optional(),
  equation: z.looseObject({ expression: z.string() }).optional(),
});

/** Text as Notion answers it. */
export type RichText = z.output<typeof richTextSchema>;

/** A block without its children. */
export const blockSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
  has_children: z.boolean().default(false),
  in_trash: z.boolean().default(false),
  created_time: z.string().default(""),
  last_edited_time: z.string().default(""),
});
export type Block = z.output<typeof blockSchema>;

/** A value of a page, or a column of a data source. */
const propertySchema = z.looseObject({ type: z.string() });
export type Property = z.output<typeof propertySchema>;

/** A page without its text. */
export const pageSchema = z.looseObject({
  object: z.literal("page"),
  id: z.string(),
  in_trash: z.boolean().default(false),
  created_time: z.string(),
  last_edited_time: z.string(),
  parent: z.looseObject({ type: z.string() }),
  properties: z.record(z.string(), propertySchema),
});
export type NotionPage = z.output<typeof pageSchema>;

/** A table of pages. */
export const dataSourceSchema = z.looseObject({
  object: z.literal("data_source"),
  id: z.string(),
  in_trash: z.boolean().default(false),
  properties: z.record(z.string(), propertySchema),
});

/** What holds data sources; nearly always one. */
export const databaseSchema = z.looseObject({
  object: z.literal("database"),
  data_sources: z.array(z.looseObject({ id: z.string() })),
});

/** A part of a list. */
export const listSchema = z.looseObject({
  object: z.literal("list"),
  results: z.array(z.unknown()),
  has_more: z.boolean().default(false),
  next_cursor: z.string().nullish(),
});

/** A refusal. */
export const errorSchema = z.looseObject({ object: z.literal("error"), code: z.string() });

/** Any answer of which nothing more is needed. */
export const objectSchema = z.looseObject({ object: z.string() });

/** The text without its look. */
export function toPlainText(value: unknown): string {
  const parsed = z.array(richTextSchema).safeParse(value);
  return parsed.success ? parsed.data.map((one) => one.plain_text).join("") : "";
}
