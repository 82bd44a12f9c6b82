import { cloneJson, isRecord } from "../../shared/base/json.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../shared/wire/file.ts";

/** `$ref` chains that go nowhere end here; real schemas nest far less. */
const MAX_DEPTH = 64;
const VARIANTS = ["allOf", "anyOf", "oneOf"] as const;

/** A file-uploadable object found in arguments. */
export interface FileField {
  /** As a caller writes it: `file`, `attachments[0]`. */
  readonly field: string;
  /** The object inside the arguments that were searched; writing to it changes them. */
  readonly value: Record<string, unknown>;
}

/** A place that takes a web address as plain text, and its value. */
export interface UrlField {
  /** As a caller writes it: `link`, `links[0]`. */
  readonly field: string;
  readonly reference: string;
  /** Puts a storage key in the place of the address. */
  replace(s3key: string): void;
}

type Replace = (value: string) => void;

/** Marked, or with the three documented properties, so that schemas without the mark work too. */
function isFileSchema(schema: Record<string, unknown>): boolean {
  if (schema[FILE_UPLOADABLE_KEYWORD] === true) return true;
  const { properties } = schema;
  return isRecord(properties) && ["name", "mimetype", "s3key"].every((name) => Object.hasOwn(properties, name));
}

/** Text marked as a file, usually `{ type: "string", format: "uri", file_uploadable: true }`. */
function isUrlSchema(schema: Record<string, unknown>, isMarked: boolean): boolean {
  return isMarked && [schema.type].flat().includes("string");
}

class FieldSearch {
  readonly #root: unknown;
  readonly found = new Map<object, FileField>();
  readonly urls = new Map<string, UrlField>();
  /** Values that were searched with a schema: alternatives that hold each other lead to the same again and again. */
  readonly #searched = new Map<object, Set<object>>();

  constructor(root: unknown) {
    this.#root = root;
  }

  #resolve(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    const steps = reference.slice(1).split("/").slice(1);
    return steps.reduce<unknown>((node, step) => {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      return isRecord(node) && Object.hasOwn(node, name) ? node[name] : undefined;
    }, this.#root);
  }

  walk(schema: unknown, value: unknown, field: string, replace: Replace, depth = 0): void {
    if (!isRecord(schema) || depth > MAX_DEPTH || this.#isSearched(schema, value)) return;
    if (typeof schema.$ref === "string") this.walk(this.#resolve(schema.$ref), value, field, replace, depth + 1);
    for (const key of VARIANTS) {
      const variants = schema[key];
      if (Array.isArray(variants)) for (const one of variants) this.walk(one, value, field, replace, depth + 1);
    }
    if (Array.isArray(value)) this.#walkItems(schema, value, field, depth);
    else if (typeof value === "string") {
      if (isUrlSchema(schema, schema[FILE_UPLOADABLE_KEYWORD] === true))
        this.urls.set(field, { field, reference: value, replace });
    } else if (isRecord(value)) {
      if (isFileSchema(schema)) this.found.set(value, { field, value });
      else this.#walkProperties(schema, value, field, depth);
    }
  }

  #isSearched(schema: object, value: unknown): boolean {
    if (typeof value !== "object" || value === null) return false;
    const values = this.#searched.get(schema) ?? new Set();
    this.#searched.set(schema, values);
    const isSearched = values.has(value);
    values.add(value);
    return isSearched;
  }

  #walkItems(schema: Record<string, unknown>, items: unknown[], field: string, depth: number): void {
    const { prefixItems } = schema;
    const isMarked = schema[FILE_UPLOADABLE_KEYWORD] === true;
    for (const [index, item] of items.entries()) {
      const place = `${field}[${index}]`;
      const replace: Replace = (key) => {
        items[index] = key;
      };
      const own = Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : schema.items;
      if (isMarked && isRecord(item)) this.found.set(item, { field: place, value: item });
      else if (typeof item === "string" && isRecord(own) && isUrlSchema(own, isMarked))
        this.urls.set(place, { field: place, reference: item, replace });
      else this.walk(own, item, place, replace, depth + 1);
    }
  }

  #walkProperties(schema: Record<string, unknown>, value: Record<string, unknown>, field: string, depth: number): void {
    for (const [name, inner] of Object.entries(value)) {
      const properties = isRecord(schema.properties) ? schema.properties : {};
      const next = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      const replace: Replace = (key) => {
        value[name] = key;
      };
      this.walk(next, inner, field === "" ? name : `${field}.${name}`, replace, depth + 1);
    }
  }
}

/** Every file-uploadable object in `args`, in nested objects, arrays and schema variants too. */
export function findFileFields(inputSchema: unknown, args: Record<string, unknown>): FileField[] {
  return mayHoldFiles(inputSchema) ? [...search(inputSchema, args).found.values()] : [];
}

/** Every text in `args` that the schema marks as a URL field of a file ("File rules" 1). */
export function findUrlFields(inputSchema: unknown, args: Record<string, unknown>): UrlField[] {
  return mayHoldFiles(inputSchema) ? [...search(inputSchema, args).urls.values()] : [];
}

function search(inputSchema: unknown, args: Record<string, unknown>): FieldSearch {
  const found = new FieldSearch(inputSchema);
  found.walk(inputSchema, args, "", () => {});
  return found;
}

/** Schemas that were looked through. */
const looked = new WeakMap<object, boolean>();

/** False for a schema with neither of the keys that make a file of something, as most are. */
function mayHoldFiles(schema: unknown): boolean {
  if (!isRecord(schema)) return false;
  const known = looked.get(schema);
  if (known !== undefined) return known;
  const json = JSON.stringify(schema);
  const mayHold = [FILE_UPLOADABLE_KEYWORD, "s3key"].some((key) => json.includes(`"${key}":`));
  looked.set(schema, mayHold);
  return mayHold;
}

/**
 * A copy of `args` in which a file reference sent under `url` or `path` stands under `s3key`, as the document's
 * "File-uploadable object" promises. Run it before the arguments are validated; running it twice changes nothing.
 */
export function recoverFileReferences(inputSchema: unknown, args: Record<string, unknown>): Record<string, unknown> {
  const copy = cloneJson(args) as typeof args;
  for (const { value } of findFileFields(inputSchema, copy)) {
    if (typeof value.s3key === "string" && value.s3key.trim() !== "") continue;
    const alias = (["url", "path"] as const).find((key) => typeof value[key] === "string" && value[key] !== "");
    if (alias === undefined) continue;
    value.s3key = value[alias];
    delete value[alias];
  }
  return copy;
}
