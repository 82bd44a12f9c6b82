import { isRecord, setOwn } from "../base/json.ts";
import { isCount, NUMBER_LIMITS, readTypes, type SchemaDraft } from "./json-schema.ts";
import { readPattern } from "./read-pattern.ts";

/** A schema for the validator; true accepts everything, false nothing. */
export type CheckSchema = SchemaDraft | boolean;

/** How the keyword readers reach the rest of the walk. */
export interface KeywordWalk {
  /** True for the side that answers for the arguments: formats count. */
  readonly isStrict: boolean;
  /** True for a schema that is taken at its word. */
  readonly isWhole: boolean;
  /** Copies a schema that applies to a part of the value. */
  below(schema: unknown): CheckSchema;
  /** Copies a schema that applies to the same value. */
  inPlace(schema: unknown): CheckSchema;
  /** Notes that something was dropped, so that the copy accepts more than the original. */
  lose(): void;
  /** How often something was dropped so far: two readings tell whether the part between them was copied whole. */
  losses(): number;
  full(): boolean;
}

type Source = Readonly<Record<string, unknown>>;

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

const COUNTS = [
  "minLength",
  "maxLength",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
  "minContains",
  "maxContains",
] as const;

function copyValueKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  copyAllowedValues(node, copy, walk);
  copyNumberKeywords(node, copy, walk);
  for (const keyword of COUNTS) {
    if (isCount(node[keyword])) copy[keyword] = node[keyword];
    else if (node[keyword] !== undefined) walk.lose();
  }
}

function copyAllowedValues(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const types = readTypes(node.type);
  if (types !== undefined) copy.type = types.length === 1 ? types[0] : types;
  else if (node.type !== undefined) walk.lose();
  if (Array.isArray(node.enum)) {
    if (node.enum.length > 0) copy.enum = node.enum;
    else walk.lose();
  }
  if (node.const !== undefined) copy.const = node.const;
  if (walk.isStrict && typeof node.format === "string") copy.format = node.format;
  else if (node.format !== undefined) walk.lose();
  if (node.pattern !== undefined) copyPattern(node.pattern, copy, walk);
}

const unchecked = new WeakSet<object>();

/** True for a node of a checking copy whose text has to match a pattern that is not run here. */
export function hasUncheckedPattern(node: object): boolean {
  return unchecked.has(node);
}

function copyPattern(pattern: unknown, copy: SchemaDraft, walk: KeywordWalk): void {
  const source = readPattern(pattern);
  if (source !== undefined) {
    copy.pattern = source;
    return;
  }
  walk.lose();
  unchecked.add(copy);
}

/** Adds a schema the same value must match, beside whatever is there. */
function appendAll(copy: SchemaDraft, schema: CheckSchema): void {
  copy.allOf = [...(Array.isArray(copy.allOf) ? copy.allOf : []), schema];
}

function copyNumberKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  for (const [keyword, exclusive] of NUMBER_LIMITS) {
    const limit = node[keyword];
    const isExclusive = node[exclusive];
    // Draft-04 and OpenAPI 3.0 write `exclusiveMinimum: true` beside the limit.
    if (Number.isFinite(limit)) copy[isExclusive === true ? exclusive : keyword] = limit;
    else if (limit !== undefined) walk.lose();
    if (Number.isFinite(isExclusive)) copy[exclusive] = isExclusive;
    else if (isExclusive !== undefined && typeof isExclusive !== "boolean") walk.lose();
  }
  if (node.multipleOf === undefined) return;
  if (Number.isFinite(node.multipleOf) && Number(node.multipleOf) > 0) copy.multipleOf = node.multipleOf;
  else walk.lose();
}

function readNames(value: unknown): string[] | undefined {
  if (!Array.isArray(value)) return undefined;
  return [...new Set(value.filter((name) => typeof name === "string"))];
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

/** @returns false when some were left out: additional keys cannot be told apart then. */
function copyProperties(node: Source, copy: SchemaDraft, walk: KeywordWalk): boolean {
  if (!isRecord(node.properties)) return true;
  const properties: SchemaDraft = {};
  copy.properties = properties;
  for (const key of Object.keys(node.properties)) {
    if (walk.full()) {
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

/** A list of schemas; undefined when it is none or empty. */
function readBranches(value: unknown): readonly unknown[] | undefined {
  return Array.isArray(value) && value.length > 0 ? value : undefined;
}

function copyArrayKeywords(node: Source, copy: SchemaDraft, walk: KeywordWalk): void {
  const oldTuple = Array.isArray(node.items);
  const tuple = oldTuple ? node.items : node.prefixItems;
  const rest = oldTuple ? node.additionalItems : node.items;
  const places = readBranches(tuple);
  if (places !== undefined) copy.prefixItems = places.map((item) => walk.below(item));
  if (rest !== undefined) copy.items = walk.below(rest);
  if (node.uniqueItems === true && walk.isWhole) copy.uniqueItems = true;
  else if (node.uniqueItems === true) {
    walk.lose();
    const short: SchemaDraft = { if: { maxItems: MAX_UNIQUE_ITEMS } };
    setOwn(short, "then", { uniqueItems: true });
    appendAll(copy, short);
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
  for (const part of readBranches(node.allOf) ?? []) appendAll(copy, walk.inPlace(part));
  const anyOf = readBranches(node.anyOf);
  if (anyOf !== undefined) copy.anyOf = anyOf.map((branch) => walk.inPlace(branch));
  const oneOf = readBranches(node.oneOf);
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
