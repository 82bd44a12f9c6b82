import { isRecord } from "../../../base/json.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../../wire/file.ts";
import type { JsonSchema } from "../../../wire/tool.ts";
import { judgeArgument } from "../../secrets/credential-name.ts";
import { dropMembers, forgetMember, toFreeName } from "../source-content.ts";

type Json = Record<string, unknown>;

/** Keywords of OpenAPI that say nothing about a value. */
const DROPPED = new Set(["discriminator", "xml", "externalDocs", "readOnly", "writeOnly", "deprecated", "nullable"]);
/** Keywords that say where a schema is: references are rebuilt from its place in the action's schema. */
const PLACING = new Set(["$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef"]);
/** Types that documents name in the way of programming languages. */
const TYPES: Readonly<Record<string, string>> = { int: "integer", long: "integer", float: "number", double: "number" };
const KNOWN_TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);
/** Keywords that hold one schema, a list of schemas, or named schemas. */
const ONE = new Set(["items", "additionalProperties", "not", "if", "then", "else", "contains", "propertyNames"]);
const MANY = new Set(["allOf", "anyOf", "oneOf", "prefixItems"]);
const NAMED = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"]);

/** A member that was taken out of a schema because no model may be given its value. */
export interface DroppedMember {
  /** The schema of the document that it is a member of. */
  readonly owner: Json;
  readonly name: string;
  readonly isRequired: boolean;
}

/** Finds the value a reference of the document leads to; undefined when it leads nowhere. */
export type FindReference = (pointer: string) => unknown;

/**
 * Turns schemas of an OpenAPI 3.0 or 3.1 document into JSON Schema 2020-12 for arguments. What schemas refer to is
 * collected once into {@link SchemaConverter.definitions}, so that schemas that contain themselves stay finite. Members that
 * hold credentials are taken out and noted in {@link SchemaConverter.dropped}.
 */
export class SchemaConverter {
  readonly #find: FindReference;
  readonly #names = new Map<string, string>();
  readonly #definitions: Json = {};
  readonly dropped: DroppedMember[] = [];

  constructor(find: FindReference) {
    this.#find = find;
  }

  /** The `$defs` of everything converted so far; undefined when there are none. */
  get definitions(): JsonSchema | undefined {
    return Object.keys(this.#definitions).length === 0 ? undefined : this.#definitions;
  }

  /** Never throws: an unreadable schema becomes one that accepts anything. */
  convert(schema: unknown): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isRecord(schema)) return {};
    if (typeof schema.$ref === "string") {
      const { description } = schema;
      return { $ref: this.#refer(schema.$ref), ...(typeof description === "string" && { description }) };
    }
    return this.#convertKeywords(schema);
  }

  /** The schema itself, where a reference leads; for places whose members are looked at. */
  resolve(schema: unknown): unknown {
    let found = schema;
    for (let step = 0; step < 20 && isRecord(found) && typeof found.$ref === "string"; step += 1) {
      found = this.#find(found.$ref);
    }
    return found;
  }

  #refer(pointer: string): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return `#/$defs/${known}`;
    const plain = (pointer.split("/").at(-1) ?? "").replaceAll(/[^A-Za-z0-9_-]+/g, "_") || "schema";
    const name = toFreeName(plain, (taken) => Object.hasOwn(this.#definitions, taken));
    this.#names.set(pointer, name);
    // Set before it is converted: it may refer to itself.
    this.#definitions[name] = {};
    this.#definitions[name] = this.convert(this.#find(pointer));
    return `#/$defs/${name}`;
  }

  #convertKeywords(schema: Json): JsonSchema {
    if (isBinary(schema)) return describeFileObject(schema);
    const result: Json = {};
    for (const [keyword, value] of Object.entries(schema)) {
      if (DROPPED.has(keyword) || PLACING.has(keyword) || keyword.startsWith("x-")) continue;
      if (keyword === "example") result.examples ??= [value];
      else if (ONE.has(keyword)) result[keyword] = typeof value === "boolean" ? value : this.convert(value);
      else if (MANY.has(keyword) && Array.isArray(value)) result[keyword] = value.map((part) => this.convert(part));
      else if (NAMED.has(keyword) && isRecord(value)) result[keyword] = this.#convertNamed(value);
      else result[keyword] = value;
    }
    dropReadOnly(result, schema, (part) => this.resolve(part));
    this.#dropCredentials(result, schema);
    fixBounds(result);
    dropMalformed(result);
    if (!Array.isArray(result.examples)) delete result.examples;
    return schema.nullable === true ? allowNull(result) : result;
  }

  #dropCredentials(result: Json, schema: Json): void {
    const { properties } = result;
    if (!isRecord(properties) || !isRecord(schema.properties)) return;
    const given = schema.properties;
    const names = Object.keys(properties).filter((name) => {
      const part = this.resolve(given[name]);
      const description = isRecord(part) ? part.description : undefined;
      return judgeArgument({ name, place: "body", description, schema: part }) === "yes";
    });
    if (names.length === 0) return;
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const name of names) this.dropped.push({ owner: schema, name, isRequired: required.includes(name) });
    dropMembers(result, names);
  }

  #convertNamed(schemas: Json): Json {
    const converted: [string, JsonSchema][] = Object.entries(schemas).map(([name, part]) => [name, this.convert(part)]);
    return Object.fromEntries(converted);
  }
}

/** Values that the server alone sets are no arguments. */
function dropReadOnly(result: Json, schema: Json, resolve: (part: unknown) => unknown): void {
  if (!isRecord(schema.properties) || !isRecord(result.properties)) return;
  for (const [name, part] of Object.entries(schema.properties)) {
    const property = resolve(part);
    if (!isRecord(property) || property.readOnly !== true) continue;
    forgetMember(result, name);
  }
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

/** Bytes: `format: binary` of 3.0, or `contentMediaType` without an encoding of 3.1. */
export function isBinary(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  if (schema.format === "binary" && (schema.type === undefined || schema.type === "string")) return true;
  return (
    typeof schema.contentMediaType === "string" && schema.contentEncoding === undefined && schema.type === undefined
  );
}

/** The document's "File-uploadable object". */
export function describeFileObject({ description }: Json): JsonSchema {
  const text = { type: "string", minLength: 1 };
  return {
    type: "object",
    ...(typeof description === "string" && { description }),
    properties: { name: text, mimetype: text, s3key: text },
    required: ["name", "mimetype", "s3key"],
    [FILE_UPLOADABLE_KEYWORD]: true,
  };
}
