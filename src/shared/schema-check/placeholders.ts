import { isRecord } from "../base/json.ts";
import { shortenText } from "../base/text.ts";
import { formatPath, type ValuePath } from "./select-errors.ts";

const ANNOTATIONS: ReadonlySet<string> = new Set(["$schema", "title", "description"]);

/**
 * True for a schema that stands in for one not sent: null, `{}`, or an open object without properties. List and search
 * answers hold these; they never mean that the tool takes no arguments.
 */
export function isPlaceholderSchema(schema: unknown): boolean {
  if (schema === null || schema === undefined) return true;
  if (!isRecord(schema)) return false;
  return Object.entries(schema).every(([keyword, value]) => {
    if (ANNOTATIONS.has(keyword)) return true;
    if (keyword === "type") return value === "object";
    if (keyword === "properties") return isRecord(value) && Object.keys(value).length === 0;
    if (keyword === "required") return Array.isArray(value) && value.length === 0;
    return keyword === "additionalProperties" && value === true;
  });
}

/** A text argument that is a placeholder as a whole. */
export interface PlaceholderArgument {
  /** Dotted path with `[i]` for list items, cut at 500 characters. */
  readonly path: string;
  readonly value: string;
}

/** Whole-string forms nobody means as a value. Words that are values somewhere (`me`, `self`, `TODO`) are not here. */
const PLACEHOLDER_FORMS: readonly RegExp[] = [
  /^<[A-Za-z][A-Za-z0-9 _.-]{0,60}>$/,
  /^\{\{?\s?[A-Za-z][A-Za-z0-9 _.-]{0,60}\s?\}?\}$/,
  /^\$\{[A-Za-z][A-Za-z0-9_.]{0,60}\}$/,
  /^\[(?:your|insert|enter|replace)[ _-][A-Za-z0-9 _-]{1,60}\]$/i,
  /^YOUR_[A-Z0-9_]{1,60}$/,
  /^your-[a-z0-9]+(?:-[a-z0-9]{1,20}){0,4}-here$/,
  /^(?:REPLACE|INSERT|CHANGE)_?(?:ME|WITH_[A-Z0-9_]{1,60}|YOUR_[A-Z0-9_]{1,60}|HERE|THIS)$/,
  /^(?:INSERT|ENTER)_[A-Z0-9_]{1,60}_HERE$/,
];

const HTML_TAGS: ReadonlySet<string> = new Set(["a", "b", "i", "p", "u", "s", "br", "hr", "em", "div", "html", "span"]);

function isPlaceholderText(text: string): boolean {
  if (text.length > 80) return false;
  const value = text.trim();
  if (value.startsWith("<") && HTML_TAGS.has(value.slice(1, -1).toLowerCase())) return false;
  return PLACEHOLDER_FORMS.some((form) => form.test(value));
}

const MAX_DEPTH = 100;
const MAX_FOUND = 20;
/** Names may be megabytes long. */
const MAX_PATH = 500;

/**
 * Finds text arguments that are placeholders as a whole: `<id>`, `{id}`, `${id}`, `YOUR_API_KEY`, `REPLACE_ME`.
 * A placeholder inside a longer text is left alone, and so is a value that an `enum`, `const` or `default` of the
 * schema writes out; `examples` hold real placeholders. At most 20 are listed, to a depth of 100.
 *
 * @param freeNames arguments of these names may hold anything
 */
export function findPlaceholderArguments(
  args: unknown,
  schema: unknown,
  freeNames: readonly string[] = [],
): PlaceholderArgument[] {
  const found: PlaceholderArgument[] = [];
  let values: ReadonlySet<string> | undefined;
  const isMeant = (text: string): boolean => {
    values ??= listWrittenOut(schema);
    return values.has(text);
  };
  const visit = (value: unknown, path: ValuePath): void => {
    if (found.length >= MAX_FOUND || path.length > MAX_DEPTH) return;
    if (typeof value === "string") {
      if (!isPlaceholderText(value) || isMeant(value)) return;
      found.push({ path: shortenText(formatPath(path), MAX_PATH), value });
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) visit(item, [...path, index]);
    } else if (isRecord(value)) {
      for (const key of Object.keys(value)) if (!freeNames.includes(key)) visit(value[key], [...path, key]);
    }
  };
  visit(args, []);
  return found;
}

const MAX_NODES = 20_000;

/** Keywords whose members are schemas under names of the author's choice: `default` is no keyword there. */
const NAMED_SCHEMAS: ReadonlySet<string> = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  "$defs",
  "definitions",
]);

type Role = "schema" | "named schemas" | "value" | "shown only";

/** Texts that are values of this schema, wherever they stand in it. */
function listWrittenOut(schema: unknown): ReadonlySet<string> {
  const texts = new Set<string>();
  const queue: { node: unknown; role: Role }[] = [{ node: schema, role: "schema" }];
  for (const { node, role } of queue) {
    if (typeof node === "string" && role === "value") texts.add(node);
    if (typeof node !== "object" || node === null) continue;
    for (const [keyword, child] of Object.entries(node)) {
      if (queue.length >= MAX_NODES) break;
      queue.push({ node: child, role: readRole(role, keyword, child) });
    }
  }
  return texts;
}

function readRole(around: Role, keyword: string, child: unknown): Role {
  if (around === "named schemas") return "schema";
  if (around !== "schema") return around;
  if (keyword === "const" || keyword === "default" || (keyword === "enum" && Array.isArray(child))) return "value";
  if (keyword === "example" || keyword === "examples") return "shown only";
  return NAMED_SCHEMAS.has(keyword) && isRecord(child) ? "named schemas" : "schema";
}
