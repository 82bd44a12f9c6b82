import { getOwn, isRecord } from "../base/json.ts";

/** A JSON Schema object of any draft. Keyword values are unknown until a reader has checked them. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A JSON Schema object that is still written to. */
export type SchemaDraft = Record<string, unknown>;

/** Types that `type` can name in JSON Schema. */
export type JsonType = "string" | "number" | "integer" | "boolean" | "object" | "array" | "null";

const TYPE_NAMES: ReadonlyMap<string, JsonType> = new Map<string, JsonType>([
  ["string", "string"],
  ["number", "number"],
  ["integer", "integer"],
  ["boolean", "boolean"],
  ["object", "object"],
  ["array", "array"],
  ["null", "null"],
  ["str", "string"],
  ["text", "string"],
  ["int", "integer"],
  ["long", "integer"],
  ["float", "number"],
  ["double", "number"],
  ["bool", "boolean"],
  ["dict", "object"],
  ["map", "object"],
  ["list", "array"],
  ["none", "null"],
  ["nonetype", "null"],
]);

/** Limits of a number, each with its exclusive form. */
export const NUMBER_LIMITS = [
  ["minimum", "exclusiveMinimum"],
  ["maximum", "exclusiveMaximum"],
] as const;

/** True for a whole number of zero or more, as every length and count keyword needs. */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

/** Reads a `type` keyword that is a single name, as {@link readTypes} does. */
export function readType(keyword: unknown): JsonType | undefined {
  if (typeof keyword !== "string") return undefined;
  return TYPE_NAMES.get(keyword) ?? TYPE_NAMES.get(keyword.toLowerCase());
}

/**
 * Reads a `type` keyword. Letter case and the names common in Python and OpenAPI tools (`str`, `int`, `dict`, ...)
 * are understood.
 *
 * @returns the types without repeats; undefined when the keyword is absent, empty or holds a name nobody knows,
 * since such a schema says nothing that could be relied on.
 */
export function readTypes(keyword: unknown): JsonType[] | undefined {
  if (!Array.isArray(keyword)) {
    const type = readType(keyword);
    return type && [type];
  }
  const types = new Set<JsonType>();
  for (const name of keyword) {
    const type = readType(name);
    if (type === undefined) return undefined;
    types.add(type);
  }
  return types.size === 0 ? undefined : [...types];
}

const FILE_KEYS = ["s3key", "name", "mimetype"];

/** True for a schema of a file argument: marked `file_uploadable`, or an object with `name`, `mimetype` and `s3key`. */
export function isFileSchema(node: Readonly<Record<string, unknown>>): boolean {
  if (node.file_uploadable === true && Object.hasOwn(node, "file_uploadable")) return true;
  const { properties } = node;
  return isRecord(properties) && FILE_KEYS.every((key) => Object.hasOwn(properties, key));
}

/**
 * Schema that models see for a file argument: a reference is enough, the plugin finds out name and type.
 * Title and description of the service's own schema are kept.
 */
export function showFileSchema(node: Readonly<Record<string, unknown>>): SchemaDraft {
  const shown: SchemaDraft = { type: "object" };
  for (const keyword of ["title", "description"]) {
    const text = getOwn(node, keyword);
    if (typeof text === "string") shown[keyword] = text;
  }
  shown.properties = {
    s3key: {
      type: "string",
      description: "A public HTTPS URL, media://inbound/… as a message names it, or the path of a media file.",
    },
    name: { type: "string", description: "File name. Left out: taken from the file." },
    mimetype: { type: "string", description: "MIME type. Left out: found out from the file." },
  };
  shown.required = ["s3key"];
  return shown;
}
