import { isRecord } from "../base/json.ts";
import { type ProjectedSchema, type SchemaProfile, writeToolSchema } from "../schema/project/project-schema.ts";
import { toPlainText } from "../wire/plain-text.ts";
import type { JsonSchema } from "../wire/tool.ts";
import type { CatalogEntry } from "./catalog/catalog-entry.ts";

/** What a model is shown of a tool's schema, kept as text: most readers want a copy of their own, or none. */
export interface EntryProjection extends Pick<ProjectedSchema, "renamed" | "notes"> {
  /** JSON text of the schema. */
  readonly text: string;
  /** The schema, read once; not to be changed. */
  readonly schema: JsonSchema;
}

/** Shown while a tool's schema is not known: any object is accepted and the service decides. */
const OPEN = keepText('{"type":"object","properties":{},"additionalProperties":true}', { renamed: [], notes: [] });

const projections = new WeakMap<object, Partial<Record<SchemaProfile, EntryProjection>>>();

/** The projection of the tool's schema for a model, with the renamed keys; computed once per schema. */
export function projectEntry(entry: Pick<CatalogEntry, "inputSchema">, profile: SchemaProfile): EntryProjection {
  const schema = entry.inputSchema;
  if (schema === null) return OPEN;
  const known = projections.get(schema) ?? {};
  const projection = known[profile] ?? project(schema, profile);
  projections.set(schema, { ...known, [profile]: projection });
  return projection;
}

function project(inputSchema: JsonSchema, profile: SchemaProfile): EntryProjection {
  const { schema, text, ...rest } = writeToolSchema(inputSchema, profile);
  return keepText(SUSPECT.test(text) ? JSON.stringify(cleanSchema(schema)) : text, rest);
}

function keepText(text: string, { renamed, notes }: Pick<ProjectedSchema, "renamed" | "notes">): EntryProjection {
  let schema: JsonSchema | undefined;
  return {
    text,
    renamed,
    notes,
    get schema() {
      schema ??= JSON.parse(text) as JsonSchema;
      return schema;
    },
  };
}

/** Finds whatever in JSON text could need cleaning: all but printable ASCII, line feeds and tabs. */
const SUSPECT = /[^ -~]|\\[^"\\nt]/;

/**
 * Removes control characters, direction marks and invisible letters from the texts of a projected schema: descriptions
 * show them as codes, defaults and examples that contain any are dropped. Names are already legal. Enum values stay
 * unchanged, because the model must be able to return them.
 */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) => !SAMPLES.has(keyword) || isPlain(value));
  const cleaned = entries.map(([keyword, value]) => [keyword, cleanValue(keyword, value)] as const);
  return Object.fromEntries(cleaned);
}

const TEXTS: ReadonlySet<string> = new Set(["title", "description"]);
const SAMPLES: ReadonlySet<string> = new Set(["default", "examples"]);
const CHOICES: ReadonlySet<string> = new Set(["enum", "const"]);

function cleanValue(keyword: string, value: unknown): unknown {
  if (TEXTS.has(keyword) && typeof value === "string") return toPlainText(value, { keepLines: true });
  if (CHOICES.has(keyword)) return value;
  if (Array.isArray(value)) return value.map((branch: unknown) => (isRecord(branch) ? cleanSchema(branch) : branch));
  if (!isRecord(value)) return value;
  if (keyword !== "properties") return cleanSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, node]) => [name, isRecord(node) ? cleanSchema(node) : node]),
  );
}

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return toPlainText(value, { keepLines: true }) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isPlain(name) && isPlain(part));
}
