import { z } from "zod";
import { isRecord } from "../../../shared/base/json.ts";

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
type Property = z.output<typeof propertySchema>;

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

/** A database: holds data sources, nearly always one. */
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

/** An answer whose content is not used. */
export const objectSchema = z.looseObject({ object: z.string() });

/** The text without its look. */
function toPlainText(value: unknown): string {
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
  // The parameter p holds a page that is open beside a database.
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

/** Columns of a data source, or values of a page, by name. */
export type PropertyMap = Readonly<Record<string, Property>>;

const namedSchema = z.looseObject({ name: z.string() });
const namesSchema = z.array(z.looseObject({ name: z.string().nullish(), id: z.string().nullish() }));
const optionsSchema = z.looseObject({ options: z.array(namedSchema) });
const dateSchema = z.looseObject({ start: z.string(), end: z.string().nullish() });

/** Name of the column that holds the title; `title` for pages that are in no data source. */
export function findTitleName(properties: PropertyMap): string {
  return Object.entries(properties).find(([, { type }]) => type === "title")?.[0] ?? "title";
}

/** The title of a page, in one line. */
export function readTitle({ properties }: Pick<NotionPage, "properties">): string {
  const title = toPlainText(properties[findTitleName(properties)]?.title);
  return title.replaceAll(/\s+/g, " ").trim() || "Untitled";
}

/** The column that holds tags: several choices, called "Tags". */
export function findTagsName(properties: PropertyMap): string | undefined {
  return Object.entries(properties).find(([name, { type }]) => type === "multi_select" && /^tags$/i.test(name))?.[0];
}

/** The tags among a page's values. */
export function readTags({ properties }: Pick<NotionPage, "properties">): string[] {
  const name = findTagsName(properties);
  const found = name === undefined ? undefined : namesSchema.safeParse(properties[name]?.multi_select).data;
  return (found ?? []).flatMap((one) => (one.name ? [one.name] : []));
}

/** A page's values without title and tags, as plain JSON. */
export function readValues(properties: PropertyMap): Record<string, unknown> {
  const kept = [findTitleName(properties), findTagsName(properties)];
  const entries = Object.entries(properties).filter(([name]) => !kept.includes(name));
  return Object.fromEntries(entries.map(([name, property]) => [name, readValue(property)]));
}

function readValue(property: Property): unknown {
  const { type } = property;
  const value = property[type];
  if (value === null || value === undefined || ["string", "number", "boolean"].includes(typeof value))
    return value ?? null;
  if (type === "rich_text") return toPlainText(value);
  if (type === "date") {
    const date = dateSchema.safeParse(value).data;
    return date?.end ? `${date.start}/${date.end}` : (date?.start ?? null);
  }
  if (type === "formula" && isRecord(value)) return readValue({ type: String(value.type), ...value });
  if (type === "unique_id" && isRecord(value))
    return [value.prefix, value.number].filter((part) => part != null).join("-");
  const named = namedSchema.safeParse(value);
  if (named.success) return named.data.name;
  const names = namesSchema.safeParse(value);
  return names.success ? names.data.map((one) => one.name ?? one.id ?? "") : `[Notion: ${type.replaceAll("_", " ")}]`;
}

/** Puts each value into the column of its name, where there is one that can hold it; `others` have none. */
export function placeValues(given: Readonly<Record<string, unknown>>, columns: PropertyMap) {
  const values: Record<string, unknown> = {};
  const others: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(given)) {
    const column = findColumn(name, columns);
    const written = column === undefined ? undefined : writeValue(value, column[1]);
    if (column === undefined || written === undefined) others[name] = value;
    else values[column[0]] = { [column[1].type]: written };
  }
  return { values, others };
}

/** The column that a property of this name goes into, by its own name. */
export function findColumn(name: string, columns: PropertyMap): [string, Property] | undefined {
  const entries = Object.entries(columns);
  return (
    entries.find(([column]) => column === name) ??
    entries.find(([column]) => column.toLowerCase() === name.toLowerCase())
  );
}

const EMPTY: Readonly<Record<string, unknown>> = { rich_text: [], multi_select: [], checkbox: false };
const NULLABLE = new Set(["number", "select", "status", "date", "url", "email", "phone_number"]);

/** A value in Notion's form; undefined when a column of this type cannot hold it. */
function writeValue(value: unknown, column: Property): unknown {
  const { type } = column;
  if (value === null) return NULLABLE.has(type) ? null : EMPTY[type];
  if (type === "rich_text" && !Array.isArray(value)) return toPlainRuns(String(value));
  if (type === "number") return typeof value === "number" ? value : undefined;
  if (type === "checkbox") return typeof value === "boolean" ? value : undefined;
  if (type === "multi_select") {
    const names = (Array.isArray(value) ? value : [value]).map(String);
    return names.length <= 100 && names.every(isOption) ? names.map((name) => ({ name })) : undefined;
  }
  if (typeof value !== "string" || value === "") return undefined;
  if (type === "select") return isOption(value) ? { name: value } : undefined;
  // Unlike those of a select, choices of a status cannot be added.
  if (type === "status") return findOption(value, column);
  if (type === "date")
    return /^\d{4}-\d\d-\d\d(T[\d:.]+(Z|[+-]\d\d:\d\d)?)?$/.test(value) ? { start: value } : undefined;
  if (type === "url") return value.length <= 2000 ? value : undefined;
  if (type === "email" || type === "phone_number") return value.length <= 200 ? value : undefined;
  return undefined;
}

/** Text as Notion takes it: runs of at most 2,000 UTF-16 units, a limit of its API; no character is torn. */
export function toPlainRuns(text: string): { readonly type: "text"; readonly text: { readonly content: string } }[] {
  return (text.match(/[\s\S]{1,1000}/gu) ?? []).map((content) => ({ type: "text", text: { content } }));
}

function isOption(name: string): boolean {
  return name !== "" && name.length <= 100 && !name.includes(",");
}

function findOption(value: string, column: Property): unknown {
  const options = optionsSchema.safeParse(column.status).data?.options ?? [];
  const found = options.find(({ name }) => name.toLowerCase() === value.toLowerCase());
  return found === undefined ? undefined : { name: found.name };
}
