import { isRecord, type JsonSchema } from "./json-schema.ts";
import { followReference } from "./schema-location.ts";

const MAX_NODES = 200;

/**
 * The keys a node of a normalised schema declares for an object, itself or through references, `allOf` and branches,
 * with the first node each is declared by. Empty for a node that takes any key as much as another, such as a map.
 */
export function listDeclared(node: unknown, schema: JsonSchema): ReadonlyMap<string, JsonSchema> {
  const declared = new Map<string, JsonSchema>();
  const queue: unknown[] = [node];
  for (let index = 0; index < queue.length && index < MAX_NODES; index++) {
    const part = queue[index];
    if (!isRecord(part)) continue;
    if (isRecord(part.additionalProperties) || isRecord(part.patternProperties)) return new Map();
    const properties = isRecord(part.properties) ? part.properties : {};
    for (const key of Object.keys(properties)) {
      const property = followFirst(properties[key], schema);
      if (!declared.has(key)) declared.set(key, property);
    }
    if (typeof part.$ref === "string") queue.push(followReference(schema, part.$ref));
    for (const list of [part.allOf, part.anyOf, part.oneOf]) if (Array.isArray(list)) queue.push(...list);
  }
  return declared;
}

/** The node itself, or what it refers to. */
function followFirst(node: unknown, schema: JsonSchema): JsonSchema {
  const target = isRecord(node) && typeof node.$ref === "string" ? followReference(schema, node.$ref) : node;
  return isRecord(target) ? target : {};
}
