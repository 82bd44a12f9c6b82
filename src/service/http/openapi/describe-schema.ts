import { type ZodType, z } from "zod";

const COMPONENTS = "#/components/schemas/";

/** Shapes that have a name in the document. */
export type ShapeRegistry = ReturnType<typeof z.registry<{ id: string }>>;

/** The named shapes. */
export function describeComponents(registry: ShapeRegistry): Record<string, object> {
  const { schemas } = z.toJSONSchema(registry, { ...JSON_SCHEMA, uri: (id) => `${COMPONENTS}${id}` });
  return Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, dropHead(schema)]));
}

/** One schema; those of the registry become references. */
export function describeSchema(schema: ZodType, registry: ShapeRegistry): object {
  const id = registry.get(schema)?.id;
  if (id !== undefined) return { $ref: `${COMPONENTS}${id}` };
  const { $defs: _components, ...described } = dropHead(
    z.toJSONSchema(schema, { ...JSON_SCHEMA, metadata: registry }),
  ) as { $defs?: unknown };
  return moveReferences(described) as object;
}

const JSON_SCHEMA = {
  target: "draft-2020-12",
  io: "input",
  unrepresentable: "any",
  override({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: { default?: unknown } }) {
    // The value a reader falls back to is nothing that a sender needs to know.
    if (zodSchema._zod.def.type === "catch") delete jsonSchema.default;
  },
} as const;

function dropHead({ $schema: _schema, $id: _id, ...rest }: { $schema?: unknown; $id?: unknown }): object {
  return rest;
}

function moveReferences(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(moveReferences);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [
      key,
      key === "$ref" && typeof member === "string" ? member.replace("#/$defs/", COMPONENTS) : moveReferences(member),
    ]),
  );
}
