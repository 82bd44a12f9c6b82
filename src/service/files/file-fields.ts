import { FILE_UPLOADABLE_KEYWORD } from "../../wire/file.ts";

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

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Marked, or with the three documented properties, so that schemas without the mark work too. */
function isFileSchema(schema: Record<string, unknown>): boolean {
  if (schema[FILE_UPLOADABLE_KEYWORD] === true) return true;
  const { properties } = schema;
  return isObject(properties) && ["name", "mimetype", "s3key"].every((name) => Object.hasOwn(properties, name));
}

class FieldSearch {
  readonly #root: unknown;
  readonly found = new Map<object, FileField>();

  constructor(root: unknown) {
    this.#root = root;
  }

  #resolve(reference: string): unknown {
    if (!reference.startsWith("#")) return undefined;
    const steps = reference.slice(1).split("/").slice(1);
    return steps.reduce<unknown>((node, step) => {
      const name = decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
      return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
    }, this.#root);
  }

  walk(schema: unknown, value: unknown, field: string, depth = 0): void {
    if (!isObject(schema) || depth > MAX_DEPTH) return;
    if (typeof schema.$ref === "string") this.walk(this.#resolve(schema.$ref), value, field, depth + 1);
    for (const key of VARIANTS) {
      const variants = schema[key];
      if (Array.isArray(variants)) for (const one of variants) this.walk(one, value, field, depth + 1);
    }
    if (Array.isArray(value)) this.#walkItems(schema, value, field, depth);
    else if (isObject(value)) {
      if (isFileSchema(schema)) this.found.set(value, { field, value });
      else this.#walkProperties(schema, value, field, depth);
    }
  }

  #walkItems(schema: Record<string, unknown>, items: readonly unknown[], field: string, depth: number): void {
    const { prefixItems } = schema;
    const isMarked = schema[FILE_UPLOADABLE_KEYWORD] === true;
    for (const [index, item] of items.entries()) {
      const place = `${field}[${index}]`;
      if (isMarked && isObject(item)) this.found.set(item, { field: place, value: item });
      else
        this.walk(
          Array.isArray(prefixItems) && index < prefixItems.length ? prefixItems[index] : schema.items,
          item,
          place,
          depth + 1,
        );
    }
  }

  #walkProperties(schema: Record<string, unknown>, value: Record<string, unknown>, field: string, depth: number): void {
    for (const [name, inner] of Object.entries(value)) {
      const properties = isObject(schema.properties) ? schema.properties : {};
      const next = Object.hasOwn(properties, name) ? properties[name] : schema.additionalProperties;
      this.walk(next, inner, field === "" ? name : `${field}.${name}`, depth + 1);
    }
  }
}

/** Every file-uploadable object in `args`, in nested objects, arrays and schema variants too. */
export function findFileFields(inputSchema: unknown, args: Record<string, unknown>): FileField[] {
  const search = new FieldSearch(inputSchema);
  search.walk(inputSchema, args, "");
  return [...search.found.values()];
}

/**
 * A copy of `args` in which a file reference sent under `url` or `path` stands under `s3key`, as the document's
 * "File-uploadable object" promises. Run it before the arguments are validated; running it twice changes nothing.
 */
export function recoverFileReferences(inputSchema: unknown, args: Record<string, unknown>): Record<string, unknown> {
  const copy = structuredClone(args);
  for (const { value } of findFileFields(inputSchema, copy)) {
    if (typeof value.s3key === "string" && value.s3key.trim() !== "") continue;
    const alias = (["url", "path"] as const).find((key) => typeof value[key] === "string" && value[key] !== "");
    if (alias === undefined) continue;
    value.s3key = value[alias];
    delete value[alias];
  }
  return copy;
}
