import { isRecord, type SchemaDraft } from "./json-schema.ts";
import { mergeWithin } from "./merge-schemas.ts";
import type { Projection } from "./projection.ts";
import { type RefResolver, readSiblings } from "./resolve-ref.ts";

type Source = Readonly<Record<string, unknown>>;

/** A node without `$ref` and `allOf`, and the definitions that went into it. */
export interface FlatNode {
  readonly node: Source;
  readonly stack: readonly object[];
  /** Set when the node is a reference back to a definition it stands in: that definition's name. */
  readonly nested?: string;
}

/** Well above the nodes a projection shows, so that what it stops is only a flood of references. */
const MAX_FLATTENED = 4_000;
const MAX_STACK = 40;
const MAX_PARTS = 50;
const ANNOTATIONS = ["title", "description", "default", "examples", "example", "deprecated"];

/** Inlines the references of a node and merges its `allOf`. What stands beside a `$ref` wins. */
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

/** A reference as written, and what it points at. */
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
