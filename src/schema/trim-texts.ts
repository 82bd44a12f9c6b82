import { cutText } from "./cut-text.ts";
import { isRecord, type JsonSchema, type SchemaDraft, setOwn } from "./json-schema.ts";
import { listInWords } from "./project-types.ts";

/** How {@link trimTexts} shortens. */
export interface TextLimits {
  /** Characters of a description. */
  readonly maxText: number;
  /** Values of a list that are shown; a longer one is said in words. */
  readonly maxValues: number;
}

const MAX_IN_WORDS = 5;

/** A copy of a projected schema with shorter descriptions and lists of values, and without examples. */
export function trimTexts(schema: JsonSchema, limits: TextLimits): SchemaDraft {
  const copy: SchemaDraft = {};
  for (const keyword of Object.keys(schema)) {
    const value = schema[keyword];
    if (keyword === "description" && typeof value === "string") copy.description = cutText(value, limits.maxText);
    else if (keyword === "properties" && isRecord(value)) copy.properties = trimMap(value, limits);
    else if ((keyword === "items" || keyword === "additionalProperties") && isRecord(value)) {
      copy[keyword] = trimTexts(value, limits);
    } else if (keyword === "anyOf" && Array.isArray(value)) {
      copy.anyOf = value.map((branch) => (isRecord(branch) ? trimTexts(branch, limits) : branch));
    } else if (keyword !== "examples") {
      copy[keyword] = value;
    }
  }
  if (Array.isArray(copy.enum) && copy.enum.length > limits.maxValues) {
    listInWords(copy.enum, copy, MAX_IN_WORDS);
    delete copy.enum;
  }
  return copy;
}

function trimMap(map: Readonly<Record<string, unknown>>, limits: TextLimits): SchemaDraft {
  const copy: SchemaDraft = {};
  for (const key of Object.keys(map)) {
    const node = map[key];
    setOwn(copy, key, isRecord(node) ? trimTexts(node, limits) : node);
  }
  return copy;
}
