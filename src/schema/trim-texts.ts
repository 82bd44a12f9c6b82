import { cutText } from "./cut-text.ts";
import { isRecord, type JsonSchema, type SchemaDraft, setOwn } from "./json-schema.ts";

/** A copy of a projected schema with descriptions cut to `limit` characters and without examples. */
export function trimTexts(schema: JsonSchema, limit: number): SchemaDraft {
  const copy: SchemaDraft = {};
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    if (keyword === "description" && typeof value === "string") copy.description = cutText(value, limit);
    else if (keyword === "properties" && isRecord(value)) copy.properties = trimMap(value, limit);
    else if ((keyword === "items" || keyword === "additionalProperties") && isRecord(value)) {
      copy[keyword] = trimTexts(value, limit);
    } else if (keyword === "anyOf" && Array.isArray(value)) {
      copy.anyOf = value.map((branch) => (isRecord(branch) ? trimTexts(branch, limit) : branch));
    } else if (keyword !== "examples") {
      copy[keyword] = value;
    }
  }
  return copy;
}

function trimMap(map: Readonly<Record<string, unknown>>, limit: number): SchemaDraft {
  const copy: SchemaDraft = {};
  for (const key of Object.keys(map)) {
    const node = map[key];
    setOwn(copy, key, isRecord(node) ? trimTexts(node, limit) : node);
  }
  return copy;
}
