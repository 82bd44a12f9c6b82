import { isRecord, setOwn } from "../../base/json.ts";
import { NUMBER_LIMITS, readTypes, type SchemaDraft } from "../json-schema.ts";
import { type RefResolver, readSiblings } from "../resolve-ref.ts";

type Source = Readonly<Record<string, unknown>>;

/**
 * One schema for values that match both, as well as one node can say it. Where both name the same annotation or a
 * keyword that cannot be combined, the first wins. Nothing is refused that both accept.
 */
function mergeSchemas(first: Source, second: Source): SchemaDraft {
  const [a, b] = [numberLimits(first), numberLimits(second)];
  const merged: SchemaDraft = {};
  for (const keyword of Object.keys(b)) setOwn(merged, keyword, b[keyword]);
  for (const keyword of Object.keys(a)) {
    const both = Object.hasOwn(b, keyword);
    setOwn(merged, keyword, both ? mergeKeyword(keyword, a[keyword], b[keyword]) : a[keyword]);
  }
  return merged;
}

const COPIED = ["properties", "patternProperties", "enum", "required"];

/** {@link mergeSchemas} as far as a projection goes: an open schema when it has merged too much. */
export function mergeWithin(projection: Projection, first: Source, second: Source): SchemaDraft {
  if (!canMerge(projection, 0)) return {};
  const both = COPIED.filter((keyword) => first[keyword] !== undefined && second[keyword] !== undefined);
  const entries = both.map((keyword) => countEntries(first[keyword]) + countEntries(second[keyword]));
  const total = entries.reduce((sum, count) => sum + count, 0);
  return canMerge(projection, total) ? mergeSchemas(first, second) : {};
}

function countEntries(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isRecord(value) ? Object.keys(value).length : 0;
}

/** Limits that exclude themselves as numbers: `exclusiveMinimum: true` speaks of the `minimum` of its own schema only. */
function numberLimits(node: Source): Source {
  if (typeof node.exclusiveMinimum !== "boolean" && typeof node.exclusiveMaximum !== "boolean") return node;
  const numbers: SchemaDraft = { ...node };
  for (const [limit, exclusive] of NUMBER_LIMITS) {
    if (typeof node[exclusive] !== "boolean") continue;
    delete numbers[exclusive];
    if (node[exclusive] === false || node[limit] === undefined) continue;
    numbers[exclusive] = node[limit];
    delete numbers[limit];
  }
  return numbers;
}

function mergeKeyword(keyword: string, a: unknown, b: unknown): unknown {
  switch (keyword) {
    case "type":
      return mergeTypes(a, b);
    case "enum":
      return mergeValues(a, b);
    case "required":
      return Array.isArray(a) && Array.isArray(b) ? [...a, ...b] : a;
    case "properties":
    case "patternProperties":
      return mergeProperties(a, b);
    case "additionalProperties":
      return a === false || b === false ? false : mergeBoth(a, b);
    case "items":
    case "prefixItems":
      return Array.isArray(a) && Array.isArray(b) ? longest(a, b) : mergeBoth(a, b);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : a;
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return typeof a === "number" && typeof b === "number" ? Math.min(a, b) : a;
    default:
      return a;
  }
}

/** The tuple with more places: the end of the shorter one is not the end of the list. */
function longest(a: readonly unknown[], b: readonly unknown[]): readonly unknown[] {
  return b.length > a.length ? b : a;
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const first = readTypes(a);
  const second = readTypes(b);
  if (first === undefined || second === undefined) return first === undefined ? b : a;
  const shared = first.filter((type) => second.includes(type) || (type === "integer" && second.includes("number")));
  if (first.includes("number") && second.includes("integer")) shared.push("integer");
  return shared.length === 0 ? a : shared;
}

function mergeValues(a: unknown, b: unknown): unknown {
  if (!Array.isArray(a) || !Array.isArray(b)) return a;
  const texts = new Set(b.map((value) => JSON.stringify(value)));
  const shared = a.filter((value) => texts.has(JSON.stringify(value)));
  return shared.length === 0 ? a : shared;
}

function mergeProperties(a: unknown, b: unknown): unknown {
  if (!isRecord(a) || !isRecord(b)) return isRecord(a) ? a : b;
  const merged: SchemaDraft = {};
  for (const key of Object.keys(a)) setOwn(merged, key, Object.hasOwn(b, key) ? mergeBoth(a[key], b[key]) : a[key]);
  for (const key of Object.keys(b)) if (!Object.hasOwn(a, key)) setOwn(merged, key, b[key]);
  return merged;
}

/** Kept as `allOf`: deeper schemas are merged when the walk arrives there, with their references. */
function mergeBoth(a: unknown, b: unknown): unknown {
  if (a === b || !isRecord(b) || (isRecord(b) && Object.keys(b).length === 0)) return a;
  if (!isRecord(a) || Object.keys(a).length === 0) return a === false ? a : b;
  return { allOf: [a, b] };
}

/** A node without `$ref` and `allOf`, and the definitions that went into it. */
export interface FlatNode {
  readonly node: Source;
  readonly stack: readonly object[];
  /** Set when the node is a reference back to a definition it stands in: that definition's name. */
  readonly nested?: string;
}

/** Well above the nodes a projection shows, so that only a flood of references reaches it. */
const MAX_FLATTENED = 4_000;
const MAX_STACK = 40;
const MAX_PARTS = 50;
const ANNOTATIONS = ["title", "description", "default", "examples", "example", "deprecated"];

/** Inlines the references of a node and merges its `allOf`. Keywords beside a `$ref` win. */
export function flattenNode(node: Source, stack: readonly object[], projection: Projection): FlatNode {
  if (++projection.nodes > MAX_FLATTENED) return { node: {}, stack };
  const { allOf, $ref, $dynamicRef, $recursiveRef, ...own } = node;
  let flat: FlatNode = { node: own, stack };
  const reference = [$ref, $dynamicRef, $recursiveRef].find((ref) => typeof ref === "string");
  if (reference !== undefined) {
    const beside = projection.isOldDraft ? readSiblings(own) : own;
    flat = inline({ name: reference, target: projection.resolve(reference, node) }, beside, stack, projection);
  }
  if (!Array.isArray(allOf)) return flat;
  for (const part of allOf.slice(0, MAX_PARTS)) {
    if (!isRecord(part)) continue;
    const inner = flattenNode(part, flat.stack, projection);
    if (inner.nested !== undefined) continue;
    flat = { ...flat, node: mergeWithin(projection, flat.node, inner.node), stack: inner.stack };
  }
  return flat;
}

/** A reference as written, and its target. */
interface Reference {
  readonly name: string;
  readonly target: ReturnType<RefResolver>;
}

function inline(
  { name: reference, target }: Reference,
  own: SchemaDraft,
  stack: readonly object[],
  projection: Projection,
): FlatNode {
  const name = reference.split("/").at(-1)?.replace(/^#/, "") ?? "";
  if (target === undefined) {
    projection.notes.add(`Unknown reference ${reference.slice(0, 100)}: anything is accepted there.`);
    return { node: pickAnnotations(own), stack };
  }
  if (typeof target === "boolean") return { node: own, stack };
  if (stack.includes(target) || stack.length >= MAX_STACK) {
    const { type } = target;
    const nullable = [target, own].some((node) => node.nullable === true || node["x-nullable"] === true);
    return { node: { ...(type !== undefined && { type }), nullable, ...pickAnnotations(own) }, stack, nested: name };
  }
  const inner = flattenNode(target, [...stack, target], projection);
  if (inner.nested !== undefined) return inner;
  return { node: mergeWithin(projection, own, inner.node), stack: inner.stack };
}

function pickAnnotations(node: Source): SchemaDraft {
  const picked: SchemaDraft = {};
  for (const keyword of ANNOTATIONS) if (node[keyword] !== undefined) picked[keyword] = node[keyword];
  return picked;
}

/** One projection under way. */
export interface Projection {
  readonly resolve: RefResolver;
  /** Of draft-07 or earlier, where keywords beside a `$ref` are ignored. */
  readonly isOldDraft: boolean;
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** What a reader of the projection should know, in sentences. */
  readonly notes: Set<string>;
  /** Keywords that could not be shown. */
  readonly dropped: Set<string>;
  /** Projects one node and everything below it. A `false` schema gives undefined. */
  readonly project: (node: unknown, place: ProjectionPlace, projection: Projection) => SchemaDraft | undefined;
  /** Nodes shown so far. */
  shown: number;
  /** Nodes read so far. */
  nodes: number;
  /** Entries of maps and lists that were merged so far; see {@link canMerge}. */
  merged: number;
}

/** Where in the schema the walk is: how deep, and inside which definitions. */
export interface ProjectionPlace {
  readonly depth: number;
  readonly stack: readonly object[];
}

/** Far above what schemas need; a flood of references to one large map would be copied for seconds. */
const MAX_MERGED = 200_000;

/** Counts `entries` that are about to be merged; false when there were too many, and nothing more is merged. */
export function canMerge(projection: Projection, entries: number): boolean {
  projection.merged += entries;
  if (projection.merged <= MAX_MERGED) return true;
  projection.notes.add("Too much of the schema is merged from parts: some of it is not shown.");
  return false;
}

/** True when the budget of a projection is used up: the rest of the schema is not shown. */
export function isFull(projection: Projection): boolean {
  return projection.shown > projection.maxNodes;
}
