import { shortenToSentence } from "../../../shared/base/text.ts";
import { showLiteral } from "../../../shared/schema-check/describe-expected.ts";
import { type JsonType, readType, readTypes, type SchemaDraft } from "../../../shared/schema-check/json-schema.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_VALUES = 1_000;
const MAX_VALUES_TEXT = 20_000;
const MAX_LISTED = 30;
const MAX_VALUE_TEXT = 100;

const KEYWORDS_OF_TYPE: Readonly<Record<JsonType, readonly string[]>> = {
  string: ["minLength", "maxLength", "pattern", "format", "contentEncoding", "contentMediaType"],
  number: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  integer: ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
  array: ["items", "minItems", "maxItems", "uniqueItems"],
  object: ["properties", "required", "additionalProperties", "minProperties", "maxProperties"],
  boolean: [],
  null: [],
};

/**
 * Adds types and allowed values to a projected node. One type, or one and null, is a `type`; more become `anyOf`, each
 * with the keywords that concern it, since not every provider takes lists of types.
 */
export function projectTypes(node: Source, shown: SchemaDraft): SchemaDraft {
  const isNullable = node.nullable === true || node["x-nullable"] === true;
  const single = isNullable || node.enum !== undefined || node.const !== undefined ? undefined : readType(node.type);
  if (single !== undefined) {
    if (single === "array") shown.items ??= {};
    shown.type = single;
    return shown;
  }
  const declared = readTypes(node.type);
  const values = readValues(node, declared, isNullable);
  if (values !== undefined && isLong(values)) listInWords(values, shown);
  else if (values !== undefined) shown.enum = values;
  const types = new Set(declared ?? values?.map(typeOf));
  if (types.has("number")) types.delete("integer");
  if (isNullable && types.size > 0) types.add("null");
  if (types.has("array")) shown.items ??= {};
  const concrete = [...types].filter((type) => type !== "null");
  if (types.size === 0) return shown;
  const sorted: JsonType[] = types.has("null") ? [...concrete, "null"] : concrete;
  if (concrete.length > 1) return shown.anyOf === undefined ? splitTypes(sorted, shown) : shown;
  const [type = "null"] = concrete;
  shown.type = types.has("null") && type !== "null" ? [type, "null"] : type;
  return shown;
}

/** The allowed values without repeats; those the declared types rule out are left away. */
function readValues(node: Source, declared: readonly JsonType[] | undefined, isNullable: boolean) {
  const listed = node.const !== undefined ? [node.const] : node.enum;
  if (!Array.isArray(listed) || listed.length === 0) return undefined;
  if (isLong(listed)) return listed;
  const distinct: unknown[] = [...new Map(listed.map((value) => [JSON.stringify(value), value])).values()];
  const fitting = declared === undefined ? distinct : distinct.filter((value) => fits(value, declared));
  const values = fitting.length === 0 ? distinct : fitting;
  return isNullable && !values.includes(null) ? [...values, null] : values;
}

function fits(value: unknown, types: readonly JsonType[]): boolean {
  const type = typeOf(value);
  return types.includes(type) || (type === "integer" && types.includes("number"));
}

function typeOf(value: unknown): JsonType {
  if (value === null) return "null";
  if (Array.isArray(value)) return "array";
  if (typeof value === "number") return Number.isInteger(value) ? "integer" : "number";
  if (typeof value === "string") return "string";
  return typeof value === "boolean" ? "boolean" : "object";
}

function isLong(values: readonly unknown[]): boolean {
  return values.length > MAX_VALUES || countCharacters(values, MAX_VALUES_TEXT) > MAX_VALUES_TEXT;
}

/** Characters of a value's texts and about ten for everything else; counts no further than a little beyond `limit`. */
function countCharacters(value: unknown, limit: number): number {
  if (typeof value === "string") return value.length;
  if (typeof value !== "object" || value === null) return 10;
  let length = 10;
  for (const [key, part] of Object.entries(value)) {
    length += (Array.isArray(value) ? 0 : key.length) + countCharacters(part, limit - length);
    if (length > limit) break;
  }
  return length;
}

/** Says allowed values in the description, the first `most` of them. */
export function listInWords(values: readonly unknown[], shown: SchemaDraft, most = MAX_LISTED): void {
  const some = values.slice(0, most).map((value) => {
    if (typeof value === "object") return showLiteral(value);
    return shortenToSentence(
      JSON.stringify(typeof value === "string" ? value.slice(0, MAX_VALUE_TEXT) : value),
      MAX_VALUE_TEXT,
    );
  });
  appendText(shown, `One of ${values.length} values, such as ${some.join(", ")}.`);
}

/** Adds a sentence to the description of a node. */
export function appendText(shown: SchemaDraft, text: string): void {
  shown.description = typeof shown.description === "string" ? `${shown.description} ${text}` : text;
}

function splitTypes(types: readonly JsonType[], shown: SchemaDraft): SchemaDraft {
  const values = Array.isArray(shown.enum) ? shown.enum : undefined;
  const { enum: _, ...outer } = shown;
  const branches: SchemaDraft[] = [];
  for (const type of types) {
    const branch: SchemaDraft = { type };
    for (const keyword of KEYWORDS_OF_TYPE[type]) {
      if (shown[keyword] !== undefined) branch[keyword] = shown[keyword];
      delete outer[keyword];
    }
    const own = values?.filter((value) => fits(value, [type]));
    if (own !== undefined && type !== "null") branch.enum = own;
    if (own === undefined || own.length > 0) branches.push(branch);
  }
  return { ...outer, anyOf: branches };
}
