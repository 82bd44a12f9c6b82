import { isRecord, setOwn } from "../../base/json.ts";
import type { SchemaDraft } from "../json-schema.ts";
import { appendAll, copyValueKeywords, type KeywordWalk, onlyIf } from "./normalise-values.ts";
import { readPattern } from "./read-pattern.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_NAMES = 1_000;
const MAX_KEY = 1_000;
const MAX_BRANCHES = 1_000;
/** Checking for equal items compares all pairs, so longer lists are left to the service. */
const MAX_UNIQUE_ITEMS = 500;

/**
 * Copies the validation keywords of one node into `copy`. Annotations and unknown keywords are left out.
 *
 * @param before - losses when the reading of this node began, its reference included
 */
export function copyKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk, before: number): void {
  copyValueKeywords(node, copy, walk);
  copyObjectKeywords(node, copy, walk);
  copyArrayKeywords(node, copy, walk);
  copyCombinators(node, copy, walk);
  copyCondition(node, copy, walk);
  // "Unevaluated" means whatever the rest of the node did not speak of: with a part gone, too much would be refused.
  for (const keyword of ["unevaluatedProperties", "unevaluatedItems"]) {
    if (node[keyword] === undefined) continue;
    if (walk.losses() > before) continue;
    copy[keyword] = walk.below(node[keyword]);
  }
}

function readNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const names = new Set<string>();
  for (const name of value.slice(0, MAX_NAMES)) if (typeof name === "string") names.add(name);
  return [...names];
}

function copyObjectKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const required = readNames(node.required);
  if (required !== undefined && required.length > 0) copy.required = required;
  const keysKnown = copyProperties(node, copy, walk) && copyKeyPatterns(node, copy, walk);
  if (node.additionalProperties !== undefined && keysKnown) {
    copy.additionalProperties = walk.below(node.additionalProperties);
  }
  if (node.propertyNames !== undefined) copy.propertyNames = walk.below(node.propertyNames);
  copyDependencies(node, copy, walk);
}

/** @returns false when some were left out, so that nobody knows any more which keys are additional. */
function copyProperties(node: Source, copy: SchemaDraft, walk: KeywordWalk): boolean {
  if (!isRecord(node.properties)) return true;
  const properties: SchemaDraft = {};
  copy.properties = properties;
  for (const key of Object.keys(node.properties)) {
    if (walk.full() || key.length > MAX_KEY) {
      walk.lose();
      return false;
    }
    setOwn(properties, key, walk.below(node.properties[key]));
  }
  return true;
}

/** @returns false when a pattern was dropped, as above. */
function copyKeyPatterns(node: Source, copy: SchemaDraft, walk: KeywordWalk): boolean {
  if (!isRecord(node.patternProperties)) return true;
  let complete = true;
  const patterns: SchemaDraft = {};
  for (const key of Object.keys(node.patternProperties)) {
    const source = readPattern(key);
    if (source !== undefined && !walk.full()) {
      setOwn(patterns, source, walk.below(node.patternProperties[key]));
    } else {
      complete = false;
      walk.lose();
    }
  }
  if (Object.keys(patterns).length > 0) copy.patternProperties = patterns;
  return complete;
}

/** `dependencies` of draft-07 is split into its two successors. */
function copyDependencies(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const names: SchemaDraft = {};
  const schemas: SchemaDraft = {};
  for (const keyword of ["dependencies", "dependentRequired", "dependentSchemas"]) {
    const map = node[keyword];
    if (!isRecord(map)) continue;
    for (const key of Object.keys(map)) {
      const required = keyword === "dependentSchemas" ? undefined : readNames(map[key]);
      if (required !== undefined) setOwn(names, key, required);
      else if (keyword !== "dependentRequired") setOwn(schemas, key, walk.inPlace(map[key]));
      else walk.lose();
    }
  }
  if (Object.keys(names).length > 0) copy.dependentRequired = names;
  if (Object.keys(schemas).length > 0) copy.dependentSchemas = schemas;
}

/** A list of schemas; undefined when it is none, empty or too long to be read. */
function readBranches(value: unknown, walk: KeywordWalk): readonly unknown[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  if (value.length <= MAX_BRANCHES) return value;
  walk.lose();
  return undefined;
}

function copyArrayKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const oldTuple = Array.isArray(node.items);
  const tuple = oldTuple ? node.items : node.prefixItems;
  const rest = oldTuple ? node.additionalItems : node.items;
  const places = readBranches(tuple, walk);
  if (places !== undefined) copy.prefixItems = places.map((item) => walk.below(item));
  const placesKnown = places !== undefined || !Array.isArray(tuple) || tuple.length === 0;
  if (rest !== undefined && placesKnown) copy.items = walk.below(rest);
  if (node.uniqueItems === true && walk.isWhole) copy.uniqueItems = true;
  else if (node.uniqueItems === true) {
    walk.lose();
    appendAll(copy, onlyIf({ maxItems: MAX_UNIQUE_ITEMS }, { uniqueItems: true }));
  }
  if (node.contains === undefined) {
    delete copy.minContains;
    delete copy.maxContains;
    return;
  }
  const before = walk.losses();
  copy.contains = walk.below(node.contains);
  // An opened `contains` counts too many matches.
  if (walk.losses() > before) delete copy.maxContains;
}

function copyCombinators(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  for (const part of readBranches(node.allOf, walk) ?? []) appendAll(copy, walk.inPlace(part));
  const anyOf = readBranches(node.anyOf, walk);
  if (anyOf !== undefined) copy.anyOf = anyOf.map((branch) => walk.inPlace(branch));
  const oneOf = readBranches(node.oneOf, walk);
  if (oneOf !== undefined) copyOneOf(oneOf, copy, walk);
  if (node.not === undefined) return;
  const before = walk.losses();
  const not = walk.inPlace(node.not);
  if (walk.losses() === before) copy.not = not;
}

/** Opened branches overlap where the originals did not, so "exactly one" becomes "at least one" for them. */
function copyOneOf(oneOf: readonly unknown[], copy: SchemaDraft, walk: KeywordWalk): void {
  const before = walk.losses();
  const branches = oneOf.map((branch) => walk.inPlace(branch));
  if (walk.losses() === before) copy.oneOf = branches;
  else if (copy.anyOf === undefined) copy.anyOf = branches;
  else appendAll(copy, { anyOf: branches });
}

function copyCondition(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  if (node.if === undefined || (node.then === undefined && node.else === undefined)) return;
  const before = walk.losses();
  const condition = walk.inPlace(node.if);
  if (walk.losses() > before) return;
  copy.if = condition;
  for (const keyword of ["then", "else"]) {
    if (node[keyword] !== undefined) copy[keyword] = walk.inPlace(node[keyword]);
  }
}
