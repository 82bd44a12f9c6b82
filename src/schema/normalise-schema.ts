import { isFileSchema } from "./file-field.ts";
import { isRecord, type JsonSchema, readTypes, type SchemaDraft } from "./json-schema.ts";
import { copyKeywords } from "./normalise-keywords.ts";
import type { CheckSchema } from "./normalise-values.ts";
import { createRefResolver, isOldDraft, type RefResolver, readSiblings } from "./resolve-ref.ts";

const MAX_NODES = 2_000;
const MAX_DEPTH = 400;
/** What says nothing about a value, beside a `$ref`. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["$ref", "$comment", "title", "description", "default", "examples"]);

/**
 * The checking copy of a tool's schema: 2020-12, no dialect left, safe to hand to a validator, and never stricter than
 * the original. Dropped are formats (engines disagree on them), references that lead nowhere or in circles, costly
 * patterns, and everything below a file field (checked by another step): there the copy accepts more. Where dropping
 * would make it accept less (inside `not`, `if`, `oneOf`, ...), the enclosing keyword is opened as well.
 *
 * The root always accepts objects. At most 2,000 nodes and 400 levels are read; the rest accepts anything. Never
 * throws for JSON input and never changes it.
 */
export function normaliseSchema(inputSchema: unknown): JsonSchema {
  if (!isRecord(inputSchema)) return {};
  const walk = startWalk(inputSchema);
  const copy = copySchema(inputSchema, { definition: "#", inPlace: true, depth: 0 }, walk);
  if (typeof copy === "boolean") return {};
  cutLoops(walk.edges);
  const types = readTypes(copy.type);
  if (types !== undefined && !types.includes("object")) delete copy.type;
  if (Object.keys(walk.definitions).length > 0) copy.$defs = walk.definitions;
  return copy;
}

/** A `$ref` of the copy, kept to find references that would never end. */
interface Edge {
  readonly node: SchemaDraft;
  /** The definitions it leads from and to, by their `$ref`. */
  readonly from: string;
  readonly to: string;
}

/** Where in the copy the walk is. */
interface Place {
  /** The definition being copied, by its `$ref`. */
  readonly definition: string;
  /** True while the node applies to the same value as the definition. */
  readonly inPlace: boolean;
  readonly depth: number;
}

interface Walk {
  readonly resolve: RefResolver;
  /** Draft-07 and earlier ignore what stands beside a `$ref`: nobody knows who checks it. */
  readonly isOldDraft: boolean;
  /** Definitions by the schema they copy. */
  readonly names: Map<object, string>;
  readonly definitions: SchemaDraft;
  /** Definitions copied to the end without a loss. */
  readonly exact: Set<string>;
  readonly edges: Edge[];
  nodes: number;
  losses: number;
}

function startWalk(root: Record<string, unknown>): Walk {
  return {
    resolve: createRefResolver(root),
    isOldDraft: isOldDraft(root),
    names: new Map([[root, "#"]]),
    definitions: {},
    exact: new Set(),
    edges: [],
    nodes: 0,
    losses: 0,
  };
}

function copySchema(node: unknown, place: Place, walk: Walk): CheckSchema {
  if (typeof node === "boolean") return node;
  walk.nodes++;
  if (!isRecord(node) || place.depth > MAX_DEPTH || walk.nodes > MAX_NODES || isFileSchema(node)) {
    walk.losses++;
    return true;
  }
  const copy: SchemaDraft = {};
  const before = walk.losses;
  const reference = [node.$ref, node.$dynamicRef, node.$recursiveRef].find((ref) => typeof ref === "string");
  if (reference !== undefined) copyReference(reference, node, copy, place, walk);
  const at = (inPlace: boolean) => (schema: unknown) =>
    copySchema(schema, { ...place, inPlace: inPlace && place.inPlace, depth: place.depth + 1 }, walk);
  const isLoose = reference !== undefined && walk.isOldDraft;
  if (isLoose && Object.keys(node).some((keyword) => !ANNOTATIONS.has(keyword))) walk.losses++;
  const keywordWalk = {
    below: at(false),
    inPlace: at(true),
    lose: () => void walk.losses++,
    losses: () => walk.losses,
    full: () => walk.nodes > MAX_NODES,
  };
  copyKeywords(isLoose ? readSiblings(node) : node, copy, keywordWalk, before);
  return node.nullable === true || node["x-nullable"] === true ? allowNull(copy) : copy;
}

/** Points the copy at a definition of its own, which is made when it is first referred to. */
function copyReference(reference: string, node: object, copy: SchemaDraft, place: Place, walk: Walk): void {
  const target = walk.resolve(reference, node);
  if (target === undefined) {
    walk.losses++;
    return;
  }
  if (typeof target === "boolean") {
    if (!target) copy.not = {};
    return;
  }
  let name = walk.names.get(target);
  if (name === undefined) {
    const key = `d${walk.names.size}`;
    name = `#/$defs/${key}`;
    walk.names.set(target, name);
    const before = walk.losses;
    walk.definitions[key] = copySchema(target, { definition: name, inPlace: true, depth: place.depth + 1 }, walk);
    if (walk.losses === before) walk.exact.add(name);
  } else if (!walk.exact.has(name)) {
    // Still being copied, or copied with a loss.
    walk.losses++;
  }
  copy.$ref = name;
  if (place.inPlace) walk.edges.push({ node: copy, from: place.definition, to: name });
}

/** OpenAPI 3.0 `nullable`. */
function allowNull(copy: SchemaDraft): CheckSchema {
  const hasBranches = ["$ref", "anyOf", "oneOf", "allOf", "not", "if"].some((keyword) => keyword in copy);
  if (hasBranches) return { anyOf: [copy, { type: "null" }] };
  const types = readTypes(copy.type);
  if (types !== undefined && !types.includes("null")) copy.type = [...types, "null"];
  if (Array.isArray(copy.enum) && !copy.enum.includes(null)) copy.enum = [...copy.enum, null];
  if (copy.const !== undefined && copy.const !== null) {
    copy.enum = [copy.const, null];
    delete copy.const;
  }
  return copy;
}

/**
 * Opens references that come back to their own definition without taking a step into the value: a validator would
 * follow them for ever. Each such reference was counted as a loss when it was copied, so nothing gets stricter.
 */
function cutLoops(edges: readonly Edge[]): void {
  const outgoing = Map.groupBy(edges, (edge) => edge.from);
  const state = new Map<string, "open" | "done">();
  const visit = (definition: string): void => {
    state.set(definition, "open");
    for (const edge of outgoing.get(definition) ?? []) {
      const reached = state.get(edge.to);
      if (reached === "open") delete edge.node.$ref;
      else if (reached === undefined) visit(edge.to);
    }
    state.set(definition, "done");
  };
  for (const definition of outgoing.keys()) if (!state.has(definition)) visit(definition);
}
