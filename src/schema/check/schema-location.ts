import { getOwn, isRecord } from "../../base/json.ts";
import type { JsonSchema } from "../json-schema.ts";

/** The keys and list positions that lead from the arguments to a value. */
export type ValuePath = readonly (string | number)[];

/** Reads a validator's `instanceLocation`. Parts that index a list come out as numbers. */
export function readValuePath(location: string, args: unknown): ValuePath {
  const path: (string | number)[] = [];
  let value = args;
  for (const part of splitPointer(location)) {
    const isIndex = Array.isArray(value) && /^\d+$/.test(part);
    path.push(isIndex ? Number(part) : part);
    value = getOwn(value, part);
  }
  return path;
}

/** A path as people read it: keys joined by dots, list positions as `[i]`. Empty for the arguments as a whole. */
export function formatPath(path: ValuePath): string {
  let text = "";
  for (const part of path) {
    if (typeof part === "number") text += `[${part}]`;
    else text += text === "" ? part : `.${part}`;
  }
  return text;
}

/**
 * The schema node that holds the keyword a validator's `keywordLocation` names: the way down the schema, following
 * references. Undefined when the location is not one of this schema.
 */
export function findNode(schema: JsonSchema, keywordLocation: string): JsonSchema | undefined {
  const parts = splitPointer(keywordLocation).slice(0, -1);
  let place: unknown = schema;
  for (const part of parts) {
    const next = getOwn(place, part);
    place = part === "$ref" && typeof next === "string" ? followReference(schema, next) : next;
  }
  return isRecord(place) ? place : undefined;
}

/** Follows a reference of a normalised schema: to its root or to one of its definitions. */
export function followReference(schema: JsonSchema, reference: string): unknown {
  if (reference === "#") return schema;
  return getOwn(schema.$defs, reference.slice("#/$defs/".length));
}

function splitPointer(location: string): string[] {
  return location
    .split("/")
    .slice(1)
    .map((part) => decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~"));
}
