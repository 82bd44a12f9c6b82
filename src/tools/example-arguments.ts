import { createArgumentGuard } from "../schema/argument-guard.ts";
import { isRecord } from "../schema/json-schema.ts";
import type { JsonSchema } from "../wire/tool.ts";

const MAX_DEPTH = 8;

/** The smallest arguments a schema allows: required ones only, from its own examples where it gives any. */
export function createExampleArguments(schema: JsonSchema): Record<string, unknown> {
  const value = createExample(schema, 0);
  return isRecord(value) ? value : {};
}

/**
 * Arguments a schema refuses because of one named field; undefined when it accepts everything, as one without
 * properties does.
 */
export function createWrongArguments(
  schema: JsonSchema,
  example: Record<string, unknown>,
): { readonly args: Record<string, unknown>; readonly field: string } | undefined {
  const check = createArgumentGuard(schema);
  const properties = isRecord(schema.properties) ? Object.keys(schema.properties) : [];
  for (const field of properties) {
    for (const wrong of [{ "no such member": [] }, "no such value", -0.5]) {
      const args = { ...example, [field]: wrong };
      const checked = check(args);
      if (!checked.ok && checked.problems.some(({ path }) => path.startsWith(field))) return { args, field };
    }
  }
  return undefined;
}

function createExample(schema: unknown, depth: number): unknown {
  if (!isRecord(schema) || depth > MAX_DEPTH) return null;
  const [given] = Array.isArray(schema.examples) ? schema.examples : [];
  if (given !== undefined) return given;
  if (schema.const !== undefined) return schema.const;
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const [branch] = [schema.anyOf, schema.oneOf].filter(Array.isArray).flat();
  if (branch !== undefined) return createExample(branch, depth + 1);
  const type: unknown = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case "object":
      return createObject(schema, depth);
    case "array":
      return Array.from({ length: readCount(schema.minItems) }, () => createExample(schema.items, depth + 1));
    case "integer":
    case "number":
      return readCount(schema.minimum, 1);
    case "boolean":
      return true;
    case "null":
      return null;
    default:
      return createText(schema);
  }
}

function createObject(schema: Record<string, unknown>, depth: number): Record<string, unknown> {
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = Array.isArray(schema.required) ? schema.required.filter((key) => typeof key === "string") : [];
  return Object.fromEntries(required.map((key) => [key, createExample(properties[key], depth + 1)]));
}

const BY_FORMAT: Readonly<Record<string, string>> = {
  date: "2026-01-31",
  "date-time": "2026-01-31T09:00:00Z",
  email: "someone@example.com",
  uri: "https://example.com/",
  uuid: "00000000-0000-4000-8000-000000000000",
};

function createText(schema: Record<string, unknown>): string {
  const byFormat = typeof schema.format === "string" ? BY_FORMAT[schema.format] : undefined;
  return byFormat ?? "example".padEnd(readCount(schema.minLength), "-");
}

function readCount(value: unknown, otherwise = 0): number {
  return typeof value === "number" && Number.isFinite(value) ? value : otherwise;
}
