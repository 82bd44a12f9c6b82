import { type ProjectedSchema, projectToolSchema, type SchemaProfile } from "../schema/project-schema.ts";
import type { JsonSchema } from "../wire/tool.ts";
import type { CatalogEntry } from "./catalog-entry.ts";
import { cleanSchema } from "./clean-schema.ts";

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
