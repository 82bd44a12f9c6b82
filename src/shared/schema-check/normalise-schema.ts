import { isRecord } from "../base/json.ts";
import { isFileSchema, type JsonSchema, readTypes, type SchemaDraft } from "./json-schema.ts";
import { type CheckSchema, copyKeywords } from "./normalise-keywords.ts";
import { createRefResolver, isOldDraft, type RefResolver, readSiblings } from "./resolve-ref.ts";

const MAX_NODES = 2_000;
const MAX_STRICT_NODES = 50_000;
const MAX_DEPTH = 400;
/** Keywords beside a `$ref` that say nothing about a value. */
const ANNOTATIONS: ReadonlySet<string> = new Set(["$ref", "$comment", "title", "description", "default", "examples"]);

/**
 * The checking copy of a tool's schema: 2020-12, no dialect left, safe to hand to a validator, and never stricter than
 * the original. Dropped are formats (engines disagree on them), references that lead nowhere or in circles, patterns
 * of other languages, and everything below a file field (checked by another step): there the copy accepts more. Where dropping
 * would make it accept less (inside `not`, `if`, `oneOf`, ...), the enclosing keyword is opened as well.
 *
 * The root always accepts objects. At most 2,000 nodes and 400 levels are read; the rest accepts anything. The input is
 * never changed.
 *
 * A strict copy keeps formats, takes any object for a file, and has up to 50,000 nodes.
 *
 * A whole copy also keeps the keywords about files and about equal items.
 *
 * @throws UnusableSchema for a strict copy that would leave out references or levels; nothing else for JSON input
 */
export function normaliseSchema(inputSchema: unknown, { isStrict = false, isWhole = false } = {}): JsonSchema {
  if (!isRecord(inputSchema)) return {};
  const walk: Walk = {
    isStrict,
    isWhole,
    resolve: createRefResolver(inputSchema),
    isOldDraft: isOldDraft(inputSchema),
    names: new Map([[inputSchema, "#"]]),
    definitions: {},
    exact: new Set(),
    edges: [],
    nodes: 0,
    losses: 0,
  };
  const copy = copySchema(inputSchema, { definition: "#", inPlace: true, depth: 0 }, walk);
  if (typeof copy === "boolean") return {};
  cutLoops(walk.edges);
  const types = readTypes(copy.type);
  if (types !== undefined && !types.includes("object")) delete copy.type;
  if (Object.keys(walk.definitions).length > 0) copy.$defs = walk.definitions;
  return copy;
}

/** No arguments can be checked by a schema, whatever they are. */
export class UnusableSchema extends Error {
  override readonly name = "UnusableSchema";
}

/** A `$ref` of the copy, kept to find references that would never end. */
interface Edge {
  readonly node: SchemaDraft;
  /** The definitions it leads from and to, by their `$ref`. */
  readonly from: string;
  readonly to: string;
}

interface Place {
  /** The definition being copied, by its `$ref`. */
  readonly definition: string;
  /** True while the node applies to the same value as the definition. */
  readonly inPlace: boolean;
  readonly depth: number;
}

interface Walk {
  readonly isWhole: boolean;
  readonly isStrict: boolean;
  readonly resolve: RefResolver;
  /** Draft-07 and earlier ignore keywords beside a `$ref`, but some validators check them. */
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

function copySchema(node: unknown, place: Place, walk: Walk): CheckSchema {
  if (typeof node === "boolean") return node;
  walk.nodes++;
  if (place.depth > MAX_DEPTH || isFull(walk)) return leaveOut(walk, "The schema is too large to be read.");
  if (!isRecord(node)) return leaveOut(walk);
  if (!walk.isWhole && isFileSchema(node)) return walk.isStrict ? openFileField(node) : leaveOut(walk);
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
    isStrict: walk.isStrict,
    isWhole: walk.isWhole,
    full: () => isFull(walk),
  };
  copyKeywords(isLoose ? readSiblings(node) : node, copy, keywordWalk, before);
  return node.nullable === true || node["x-nullable"] === true ? allowNull(copy) : copy;
}

/** Accepts anything in place of a part. With a reason, a strict copy throws instead. */
function leaveOut(walk: Walk, reason?: string): true {
  if (walk.isStrict && reason !== undefined) throw new UnusableSchema(reason, { cause: new Error(reason) });
  walk.losses++;
  return true;
}

function isFull({ nodes, isStrict }: Walk): boolean {
  return nodes > (isStrict ? MAX_STRICT_NODES : MAX_NODES);
}

/** Where a file goes, any object does, or text for a URL: both are checked when the bytes are resolved. */
function openFileField({ type, items }: Readonly<Record<string, unknown>>): SchemaDraft {
  const types = [type].flat();
  if (types.includes("array")) return { type: "array", items: openFileField(isRecord(items) ? items : {}) };
  const own = types.filter((name) => name === "null" || (name === "string" && types.includes("string")));
  if (!types.includes("string") || types.includes("object")) own.push("object");
  return { type: own };
}

/** Points the copy at a definition of its own, which is made when it is first referred to. */
function copyReference(reference: string, node: object, copy: SchemaDraft, place: Place, walk: Walk): void {
  const target = walk.resolve(reference, node);
  if (target === undefined) {
    // What its author meant is checked by whoever takes the call.
    leaveOut(walk);
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
