import { z } from "zod";
import { isRecord } from "../../../shared/base/json.ts";
import type { PropertyMap } from "./notion-objects.ts";

const MAX_RUNS = 100;
const namedSchema = z.looseObject({ name: z.string() });
const dateSchema = z.looseObject({
  start: z.string(),
  end: z.string().nullish(),
  time_zone: z.string().nullish(),
});
const styleSchema = { annotations: z.looseObject({}).optional() };
const runSchema = z.discriminatedUnion("type", [
  z.looseObject({
    type: z.literal("text"),
    text: z.looseObject({ content: z.string(), link: z.looseObject({ url: z.string() }).nullish() }),
    ...styleSchema,
  }),
  z.looseObject({ type: z.literal("equation"), equation: z.looseObject({ expression: z.string() }), ...styleSchema }),
]);

type Property = PropertyMap[string];

/** What a page without a value has, by the type of the column; null for all others. */
const EMPTY: Readonly<Record<string, unknown>> = { title: [], rich_text: [], multi_select: [], checkbox: false };

/**
 * The value of a page as a request takes it, so that it can be set again: `{ number: 3 }`. Undefined for one that Notion would
 * not take, such as text with a mention. A page without it has no value of that `type`.
 */
export function toWritable(property: Property | undefined, type: string): Record<string, unknown> | undefined {
  const value = property?.[type];
  if (value === undefined || value === null) return { [type]: EMPTY[type] ?? null };
  const written = writeBack(type, value);
  return written === undefined ? undefined : { [type]: written };
}

function writeBack(type: string, value: unknown): unknown {
  if (type === "title" || type === "rich_text") {
    const runs = z.array(runSchema).max(MAX_RUNS).safeParse(value).data;
    return runs?.map((run) => {
      const style = run.annotations === undefined ? {} : { annotations: run.annotations };
      return run.type === "text"
        ? { type: run.type, text: { content: run.text.content, link: run.text.link ?? null }, ...style }
        : { type: run.type, equation: { expression: run.equation.expression }, ...style };
    });
  }
  if (type === "multi_select") {
    const names = z
      .array(namedSchema)
      .safeParse(value)
      .data?.map(({ name }) => name);
    return names?.every(isOption) ? names.map((name) => ({ name })) : undefined;
  }
  if (type === "select" || type === "status") {
    const name = namedSchema.safeParse(value).data?.name;
    return name !== undefined && isOption(name) ? { name } : undefined;
  }
  if (type === "date") return dateSchema.safeParse(value).data && pickDate(value);
  return ["string", "number", "boolean"].includes(typeof value) ? value : undefined;
}

/** Notion takes no comma in the name of an option. */
function isOption(name: string): boolean {
  return !name.includes(",");
}

function pickDate(value: unknown): unknown {
  const { start, end = null, time_zone = null } = dateSchema.parse(value);
  return { start, end, time_zone };
}

/** True where a page has the value that was sent, such as `{ select: { name: "a" } }`. */
export function hasValue(property: Property | undefined, sent: unknown): boolean {
  const [[type, value] = ["", undefined]] = isRecord(sent) ? Object.entries(sent) : [];
  return toPlain(property?.[type] ?? EMPTY[type]) === toPlain(value ?? EMPTY[type]);
}

/** The same text for a value as it is sent and as Notion gives it. */
function toPlain(value: unknown): string {
  if (Array.isArray(value)) {
    const isText = value.some((one) => isRecord(one) && ("text" in one || "plain_text" in one));
    return isText ? value.map(readRun).join("") : value.map(toPlain).join("\n");
  }
  if (!isRecord(value)) return value === undefined || value === null ? "" : String(value);
  if (typeof value.name === "string") return value.name;
  return typeof value.start === "string" ? [value.start, value.end ?? ""].join("/") : JSON.stringify(value);
}

function readRun(run: unknown): string {
  if (!isRecord(run)) return "";
  if (typeof run.plain_text === "string") return run.plain_text;
  return isRecord(run.text) && typeof run.text.content === "string" ? run.text.content : "";
}
