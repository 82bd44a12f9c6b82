import { judgeArgument } from "../../shared/base/credential-name.ts";
import { isRecord } from "../../shared/base/json.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../shared/wire/file.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import { dropMembers, forgetMember, toFreeName } from "../port/source-content.ts";
import { tidySchema } from "./tidy-schema.ts";

type Json = Record<string, unknown>;

/** Keywords of OpenAPI that say nothing about a value. */
const DROPPED = new Set(["discriminator", "xml", "externalDocs", "readOnly", "writeOnly", "deprecated", "nullable"]);
/** What may stand beside a reference in OpenAPI 3.0 without meaning anything for a value. */
const BESIDE = new Set(["$ref", "description", "summary"]);
/** Keywords that say where a schema is: references are rebuilt from its place in the action's schema. */
const PLACING = new Set(["$id", "$schema", "$anchor", "$dynamicAnchor", "$dynamicRef"]);
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
  /** References that lead nowhere: any value is accepted there. */
  readonly missing = new Set<string>();

  constructor(find: FindReference) {
    this.#find = find;
  }

  /** The `$defs` of everything converted so far; undefined when there are none. */
  get definitions(): JsonSchema | undefined {
    return Object.keys(this.#definitions).length === 0 ? undefined : this.#definitions;
  }

  /** Never throws: an unreadable schema becomes one that accepts anything, and one that needs a credential accepts nothing. */
  convert(schema: unknown): JsonSchema {
    if (schema === false) return { not: {} };
    if (!isRecord(schema)) return {};
    if (typeof schema.$ref !== "string") return this.#convertKeywords(schema);
    const $ref = this.#refer(schema.$ref);
    if (this.#hasSiblings(schema)) return { ...this.#convertKeywords(omitReference(schema)), $ref };
    const { description } = schema;
    return { $ref, ...(typeof description === "string" && { description }) };
  }

  /** The same for a body, whose own members may come from the connection; undefined when it needs another credential. */
  convertBody(schema: unknown): JsonSchema | undefined {
    const converted = isRecord(schema) ? this.#convertKeywords(schema, { isBody: true }) : this.convert(schema);
    return this.#isImpossible(converted) ? undefined : converted;
  }

  /** The schema itself, where a reference leads, with what stands beside the reference; for places whose members are looked at. */
  resolve(schema: unknown): unknown {
    let found = schema;
    for (let step = 0; step < 20 && isRecord(found) && typeof found.$ref === "string"; step += 1) {
      const target = this.#find(found.$ref);
      if (target === undefined) this.missing.add(found.$ref);
      found = this.#hasSiblings(found) && isRecord(target) ? join(target, omitReference(found)) : target;
    }
    return found;
  }

  #hasSiblings(schema: Json): boolean {
    if (Object.keys(schema).every((keyword) => BESIDE.has(keyword) || keyword.startsWith("x-"))) return false;
    return !String(this.#find("#/openapi")).startsWith("3.0");
  }

  #refer(pointer: string): string {
    const known = this.#names.get(pointer);
    if (known !== undefined) return `#/$defs/${known}`;
    const plain = (pointer.split("/").at(-1) ?? "").replaceAll(/[^A-Za-z0-9_-]+/g, "_") || "schema";
    const name = toFreeName(plain, (taken) => Object.hasOwn(this.#definitions, taken));
    this.#names.set(pointer, name);
    // Set before it is converted: it may refer to itself.
    this.#definitions[name] = {};
    const target = this.#find(pointer);
    if (target === undefined) this.missing.add(pointer);
    this.#definitions[name] = this.convert(target);
    return `#/$defs/${name}`;
  }

  #convertKeywords(schema: Json, o: { isBody?: boolean; optional?: ReadonlySet<string> } = {}): JsonSchema {
    if (isBinary(schema)) return describeFileObject(schema);
    const result: Json = {};
    const readOnly = new Set([...(o.optional ?? []), ...this.#listReadOnly(schema)]);
    for (const [keyword, value] of Object.entries(schema)) {
      if (DROPPED.has(keyword) || PLACING.has(keyword) || keyword.startsWith("x-")) continue;
      if (keyword === "example") result.examples ??= [value];
      else if (ONE.has(keyword)) result[keyword] = typeof value === "boolean" ? value : this.convert(value);
      else if (keyword === "allOf" && Array.isArray(value)) result.allOf = this.#convertAll(value, readOnly);
      else if (MANY.has(keyword) && Array.isArray(value)) result[keyword] = value.map((part) => this.convert(part));
      else if (NAMED.has(keyword) && isRecord(value)) result[keyword] = this.#convertNamed(value);
      else result[keyword] = value;
    }
    for (const name of readOnly) forgetMember(result, name);
    const needsSecret = this.#dropCredentials(result, schema) && o.isBody !== true;
    if (needsSecret || !this.#settle(result)) return { not: {} };
    return tidySchema(result, schema);
  }

  /** Values that the server alone sets are no arguments, and not needed by any part of the schema. */
  #listReadOnly(schema: Json, depth = 0): string[] {
    const members = Object.entries(propertiesOf(schema)).map(([name, part]) => [name, this.resolve(part)] as const);
    const own = members.flatMap(([name, part]) => (isRecord(part) && part.readOnly === true ? [name] : []));
    if (!Array.isArray(schema.allOf) || depth > 5) return own;
    const parts = schema.allOf.map((part) => this.resolve(part)).filter(isRecord);
    return [...own, ...parts.flatMap((part) => this.#listReadOnly(part, depth + 1))];
  }

  /** A part that needs what another part says is read only is written out, as others may use it as it is. */
  #convertAll(parts: readonly unknown[], readOnly: ReadonlySet<string>): JsonSchema[] {
    return parts.map((part) => {
      const target = readOnly.size > 0 ? this.resolve(part) : undefined;
      return isRecord(target) ? this.#convertKeywords(target, { optional: readOnly }) : this.convert(part);
    });
  }

  /** False when no value can fit, since each needs a member or an alternative that accepts nothing. */
  #settle(result: Json): boolean {
    const { required, allOf } = result;
    for (const [name, part] of Object.entries(propertiesOf(result))) {
      if (!this.#isImpossible(part)) continue;
      if (Array.isArray(required) && required.includes(name)) return false;
      dropMembers(result, [name]);
    }
    for (const union of ["anyOf", "oneOf"]) {
      const parts = result[union];
      if (!Array.isArray(parts)) continue;
      const left = parts.filter((part) => !this.#isImpossible(part));
      if (parts.length > 0 && left.length === 0) return false;
      result[union] = left;
    }
    return !(Array.isArray(allOf) && allOf.some((part) => this.#isImpossible(part)));
  }

  #isImpossible(schema: unknown): boolean {
    if (!isRecord(schema)) return false;
    if (typeof schema.$ref === "string") {
      return this.#isImpossible(this.#definitions[schema.$ref.slice("#/$defs/".length)]);
    }
    return isRecord(schema.not) && Object.keys(schema.not).length === 0;
  }

  /** True when a value cannot do without one of them. */
  #dropCredentials(result: Json, schema: Json): boolean {
    const given = propertiesOf(schema);
    const names = Object.keys(propertiesOf(result)).filter((name) => {
      const part = this.resolve(given[name]);
      const description = isRecord(part) ? part.description : undefined;
      return judgeArgument({ name, place: "body", description, schema: part }) === "yes";
    });
    if (names.length === 0) return false;
    const required = Array.isArray(schema.required) ? schema.required : [];
    for (const name of names) this.dropped.push({ owner: schema, name, isRequired: required.includes(name) });
    dropMembers(result, names);
    return names.some((name) => required.includes(name));
  }

  #convertNamed(schemas: Json): Json {
    const converted: [string, JsonSchema][] = Object.entries(schemas).map(([name, part]) => [name, this.convert(part)]);
    return Object.fromEntries(converted);
  }
}

/** The named members of a schema; none where it has no list of them. */
export function propertiesOf(schema: unknown): Json {
  return isRecord(schema) && isRecord(schema.properties) ? schema.properties : {};
}

function omitReference({ $ref: _, ...siblings }: Json): Json {
  return siblings;
}

/** One schema for both; where both have a word whose meanings cannot be put into one, each is a part of it. */
function join(target: Json, more: Json): Json {
  const { properties, required, ...rest } = more;
  const annotations = new Set(["description", "summary", "title", "default", "example", "examples", "deprecated"]);
  if (Object.keys(rest).some((word) => Object.hasOwn(target, word) && !annotations.has(word))) {
    return { allOf: [target, more] };
  }
  return {
    ...target,
    ...rest,
    ...(isRecord(properties) && { properties: { ...propertiesOf(target), ...properties } }),
    ...(Array.isArray(required) && {
      required: [...(Array.isArray(target.required) ? target.required : []), ...required],
    }),
  };
}

/** Types of bytes that are read as text, and so given as text. */
const TEXTUAL = /^text\/|[/+](?:json|xml|yaml|javascript|jwt|x-www-form-urlencoded|graphql|sql)\b/i;

/** Bytes: `format: binary` of 3.0, and of 3.1 `contentMediaType`, with or without base64 ("Working with Binary Data"). */
export function isBinary(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const types = [schema.type].flat().filter((type) => type !== "null");
  const isOpen = types[0] === undefined;
  if (!isOpen && (types.length !== 1 || types[0] !== "string")) return false;
  const { contentMediaType, contentEncoding, format } = schema;
  if (format === "binary") return true;
  if (typeof contentMediaType !== "string") return false;
  if (contentEncoding !== undefined) return contentEncoding === "base64" && !TEXTUAL.test(contentMediaType);
  return isOpen || !TEXTUAL.test(contentMediaType);
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
