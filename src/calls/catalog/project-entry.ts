import type { ZodType } from "zod";
import { isRecord } from "../../base/json.ts";
import { type ProjectedSchema, projectToolSchema, type SchemaProfile } from "../../schema/project/project-schema.ts";
import { createSchemaCarrier, isCarrierExact } from "../../schema/project/schema-carrier.ts";
import { toPlainText } from "../../wire/plain-text.ts";
import type { JsonSchema } from "../../wire/tool.ts";
import type { CatalogEntry } from "./catalog-entry.ts";

/** Shown while a tool's schema is not known: any object is accepted and the service decides. */
const OPEN_SCHEMA: JsonSchema = { type: "object", properties: {}, additionalProperties: true };

const projections = new WeakMap<object, Partial<Record<SchemaProfile, ProjectedSchema>>>();

/** What a model sees of the tool's schema, with the keys that had to be renamed; computed once per schema. */
export function projectEntry(entry: Pick<CatalogEntry, "inputSchema">, profile: SchemaProfile): ProjectedSchema {
  const schema = entry.inputSchema;
  if (schema === null) return { schema: OPEN_SCHEMA, renamed: [], notes: [] };
  const known = projections.get(schema) ?? {};
  const projection = known[profile] ?? project(schema, profile);
  projections.set(schema, { ...known, [profile]: projection });
  return projection;
}

function project(schema: JsonSchema, profile: SchemaProfile): ProjectedSchema {
  const projected = projectToolSchema(schema, { profile });
  return { ...projected, schema: cleanSchema(projected.schema) };
}

/** How a runtime turns a zod type into the JSON Schema its models get. */
type SchemaConverter = (schema: ZodType) => unknown;

const verdicts = new WeakMap<SchemaConverter, boolean>();

/**
 * The form in which a runtime that expects zod takes a schema: a carrier that accepts every input, so that checking
 * stays with the pipeline; or the JSON Schema itself when the runtime's converter would not give it back unchanged.
 */
export function carrySchema(schema: JsonSchema, toJsonSchema: SchemaConverter): ZodType | JsonSchema {
  const isExact = verdicts.get(toJsonSchema) ?? isCarrierExact(toJsonSchema);
  verdicts.set(toJsonSchema, isExact);
  return isExact ? createSchemaCarrier(schema) : schema;
}

/**
 * A projected schema without controls, direction marks and invisible letters in what a model reads: texts show them as
 * codes, defaults and examples that hold any are left out. Names are legal already; values to choose from stay as they
 * are, since the model must be able to give them back.
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
