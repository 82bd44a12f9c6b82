import { isRecord, setOwn } from "../../../shared/base/json.ts";
import { NUMBER_LIMITS, readTypes, type SchemaDraft } from "../../../shared/schema-check/json-schema.ts";
import { type RefResolver, readSiblings } from "../../../shared/schema-check/resolve-ref.ts";

type Source = Readonly<Record<string, unknown>>;

/** Keywords whose entries are copied when two schemas have both. */
const COPIED = ["properties", "patternProperties", "enum", "required"];

/**
 * One schema for values that match both, as well as one node can say it; an open one when the budget is used up. Where
 * both name the same annotation or a keyword that cannot be combined, the first wins. Nothing is refused that both
 * accept.
 */
export function mergeSchemas(projection: Projection, first: Source, second: Source): SchemaDraft {
  const both = COPIED.filter((keyword) => first[keyword] !== undefined && second[keyword] !== undefined);
  const cost = both.reduce((sum, keyword) => sum + countEntries(first[keyword]) + countEntries(second[keyword]), 0);
  if (!spend(projection, cost)) return {};
  const [a, b] = [numberLimits(first), numberLimits(second)];
  const merged: SchemaDraft = {};
  for (const keyword of Object.keys(b)) setOwn(merged, keyword, b[keyword]);
  for (const keyword of Object.keys(a)) {
    const isShared = Object.hasOwn(b, keyword);
    setOwn(merged, keyword, isShared ? mergeKeyword(keyword, a[keyword], b[keyword]) : a[keyword]);
  }
  return merged;
}

/** Entries of a map or list; 0 for anything else. */
export function countEntries(value: unknown): number {
  return typeof value === "object" && value !== null ? Object.keys(value).length : 0;
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
      if (!Array.isArray(a) || !Array.isArray(b)) return mergeBoth(a, b);
      // The end of the shorter tuple is not the end of the list.
      return b.length > a.length ? b : a;
    default:
      if (typeof a !== "number" || typeof b !== "number") return a;
      if (/^(?:min|exclusiveMin)/.test(keyword)) return Math.max(a, b);
      return /^(?:max|exclusiveMax)/.test(keyword) ? Math.min(a, b) : a;
  }
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
  if (a === b || !isRecord(b) || Object.keys(b).length === 0) return a;
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

const MAX_STACK = 40;
const MAX_PARTS = 50;
const ANNOTATIONS = ["title", "description", "default", "examples", "example", "deprecated"];

/** Keywords that lead to other schemas which say more about the node. */
export const LINKS = ["allOf", "$ref", "$dynamicRef", "$recursiveRef"];

/** Inlines the references of a node and merges its `allOf`. Keywords beside a `$ref` win. */
export function flattenNode(node: Source, stack: readonly object[], projection: Projection): FlatNode {
  if (!spend(projection, NODE_COST)) return { node: {}, stack };
  const { allOf, $ref, $dynamicRef, $recursiveRef, ...own } = node;
  let flat: FlatNode = { node: own, stack };
  const reference = [$ref, $dynamicRef, $recursiveRef].find((ref) => typeof ref === "string");
  if (reference !== undefined) {
    const beside = projection.isOldDraft ? readSiblings(own) : own;
    flat = inline(reference, projection.resolve(reference, node), { node: beside, stack }, projection);
  }
  if (!Array.isArray(allOf)) return flat;
  for (const part of allOf.slice(0, MAX_PARTS)) {
    if (!isRecord(part)) continue;
    const inner = flattenNode(part, flat.stack, projection);
    if (inner.nested !== undefined) continue;
    flat = { ...flat, node: mergeSchemas(projection, flat.node, inner.node), stack: inner.stack };
  }
  return flat;
}

function inline(
  reference: string,
  target: ReturnType<RefResolver>,
  { node: own, stack }: FlatNode,
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
  return { node: mergeSchemas(projection, own, inner.node), stack: inner.stack };
}

function pickAnnotations(node: Source): SchemaDraft {
  return Object.fromEntries(ANNOTATIONS.flatMap((keyword) => (keyword in node ? [[keyword, node[keyword]]] : [])));
}

/** Limits and findings of one projection. */
export interface Projection {
  readonly resolve: RefResolver;
  /** Of draft-07 or earlier, where keywords beside a `$ref` are ignored. */
  readonly isOldDraft: boolean;
  readonly maxDepth: number;
  readonly maxNodes: number;
  /** Legal names that the model's provider is known to mishandle. */
  readonly reserved: ReadonlySet<string>;
  /** What a reader of the projection should know, in sentences. */
  readonly notes: Set<string>;
  /** Keywords that models are not shown. */
  readonly dropped: Set<string>;
  /** Projects one node and everything below it. A `false` schema gives undefined. */
  readonly project: (node: unknown, place: ProjectionPlace, projection: Projection) => SchemaDraft | undefined;
  /** Nodes that were projected so far; compare `maxNodes`. */
  shown: number;
  /** Set once a property has a name that providers refuse. */
  hasIllegalKey: boolean;
  /** Work that may still be done; see {@link spend}. */
  budget: number;
}

/** Place of a node in the schema. */
export interface ProjectionPlace {
  /** Steps below the root, which is 0. */
  readonly depth: number;
  /** Definitions that the node stands in, by which a reference back is recognised. */
  readonly stack: readonly object[];
}

/** Far above what schemas need; a flood of references would be followed, and one large map copied, for seconds. */
export const BUDGET = 400_000;
/** Cost of a node that is read; an entry that is merged costs 1. */
export const NODE_COST = 50;

/** Takes costs off the budget; false when it is used up: nothing more is read or merged. */
export function spend(projection: Projection, cost: number): boolean {
  projection.budget -= cost;
  if (projection.budget >= 0) return true;
  projection.notes.add("Too much of the schema is merged from parts: some of it is not shown.");
  return false;
}

/** True when enough is shown: the rest of the schema is left out. */
export function isFull(projection: Projection): boolean {
  return projection.shown > projection.maxNodes;
}
