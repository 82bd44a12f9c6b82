import { isRecord } from "../../shared/base/json.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";

type Json = Record<string, unknown>;

/** Types that documents name in the way of programming languages. */
const TYPES: Readonly<Record<string, string>> = { int: "integer", long: "integer", float: "number", double: "number" };
const KNOWN_TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Formats that the check of arguments would insist on. */
const ASSERTED = new Set([
  ...["date", "time", "date-time", "duration", "uri", "uri-reference", "uri-template", "url", "email", "hostname"],
  ...["ipv4", "ipv6", "regex", "uuid", "json-pointer", "json-pointer-uri-fragment", "relative-json-pointer"],
]);

/**
 * Puts right what a document says of a converted schema in words of OpenAPI 3.0, or in ways that no validator can use: a slip
 * must not make every call of the action fail. Changes `result`.
 *
 * @param schema the schema of the document
 */
export function tidySchema(result: Json, schema: Json): JsonSchema {
  loosenUnion(result, schema);
  fixBounds(result);
  dropMalformed(result);
  fitValues(result);
  noteFormat(result);
  if (!Array.isArray(result.examples)) delete result.examples;
  return schema.nullable === true ? allowNull(result) : result;
}

/** Alternatives that a member tells apart may fit one value together. */
function loosenUnion(result: Json, schema: Json): void {
  if (!isRecord(schema.discriminator) || !Array.isArray(result.oneOf) || result.anyOf !== undefined) return;
  result.anyOf = result.oneOf;
  delete result.oneOf;
}

/** Values that a document lists in another type than it names: what is sent is a text in any case. */
function fitValues(schema: Json): void {
  const { type, enum: values } = schema;
  if (typeof type === "string" && Array.isArray(values)) schema.enum = values.map((value) => fitValue(value, type));
}

function fitValue(value: unknown, type: string): unknown {
  if (type === "string" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (typeof value !== "string") return value;
  if (type === "boolean" && /^(?:true|false)$/.test(value)) return value === "true";
  const isNumber = (type === "integer" || type === "number") && value.trim() !== "" && Number.isFinite(Number(value));
  return isNumber ? Number(value) : value;
}

/** A format is a hint for whoever writes the value (JSON Schema 2020-12, 7.2.1): it is told, and refuses nothing. */
function noteFormat(schema: Json): void {
  const { format, description } = schema;
  if (typeof format !== "string" || !ASSERTED.has(format)) return;
  delete schema.format;
  const told = typeof description === "string" && description !== "" ? `${description} ` : "";
  schema.description = `${told}Format: ${format}.`;
}

/** OpenAPI 3.0 has JSON Schema draft 4's flags beside `minimum` and `maximum`. */
function fixBounds(schema: Json): void {
  for (const [flag, bound] of [
    ["exclusiveMinimum", "minimum"],
    ["exclusiveMaximum", "maximum"],
  ] as const) {
    if (typeof schema[flag] !== "boolean") continue;
    const isExclusive = schema[flag];
    delete schema[flag];
    if (!isExclusive || typeof schema[bound] !== "number") continue;
    schema[flag] = schema[bound];
    delete schema[bound];
  }
}

/** Keywords with values no validator can use: a document's slip must not make every call of the action fail. */
function dropMalformed(schema: Json): void {
  const { type, enum: values, required, pattern } = schema;
  if (type !== undefined) {
    const types = [type].flat().map((name) => TYPES[String(name)] ?? name);
    if (!types.every((name) => KNOWN_TYPES.has(String(name)))) delete schema.type;
    else if (!Array.isArray(type)) [schema.type] = types;
    else schema.type = types;
  }
  if (values !== undefined && !Array.isArray(values)) delete schema.enum;
  if (required !== undefined && !Array.isArray(required)) delete schema.required;
  if (pattern !== undefined && !isPattern(pattern)) delete schema.pattern;
}

function isPattern(pattern: unknown): boolean {
  if (typeof pattern !== "string") return false;
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

function allowNull(schema: Json): JsonSchema {
  const { type, enum: values } = schema;
  if (typeof type === "string") {
    const allowed = Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {};
    return { ...schema, ...allowed, type: [type, "null"] };
  }
  if (type === undefined && (schema.allOf ?? schema.anyOf ?? schema.oneOf) !== undefined) {
    const { description, ...rest } = schema;
    return { ...(description !== undefined && { description }), anyOf: [rest, { type: "null" }] };
  }
  return schema;
}
