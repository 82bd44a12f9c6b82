import { z } from "zod";

/** One run of text. */
const richTextSchema = z.looseObject({ plain_text: z.string() });

/** A block without its children. */
export const blockSchema = z.looseObject({
  id: z.string(),
  type: z.string(),
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

/**
 * The id of a page, database or data source, as Notion writes ids, from an id or from the address of a page in the
 * browser; undefined when the text is neither.
 */
export function readNotionId(text: string): string | undefined {
  const typed = text.trim();
  const url = /^https?:/i.test(typed) ? URL.parse(typed) : null;
  if (url === null) return /^[0-9a-f]{8}(-?)(?:[0-9a-f]{4}\1){3}[0-9a-f]{12}$/i.test(typed) ? toId(typed) : undefined;
  // A page that is open beside a database stands in the parameter p.
  const last = url.searchParams.get("p") ?? url.pathname.split("/").findLast((part) => part !== "") ?? "";
  const hex = /[0-9a-f]{32}$/i.exec(last.replaceAll("-", ""))?.[0];
  return hex === undefined ? undefined : toId(hex);
}

function toId(text: string): string {
  const hex = text.replaceAll("-", "").toLowerCase();
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}

/** The address of a page in the browser. */
export function toPageUrl(id: string): string {
  return `https://www.notion.so/${id.replaceAll("-", "")}`;
}
