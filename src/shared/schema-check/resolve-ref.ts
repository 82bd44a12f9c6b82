import { getOwn, isRecord } from "../base/json.ts";

/**
 * Finds the target of a `$ref` in one document: a schema object, a boolean schema, or undefined.
 *
 * @param holder - the schema object that holds the reference: inside a part with an `$id` of its own, `#` is that part
 */
export type RefResolver = (ref: string, holder: object) => Record<string, unknown> | boolean | undefined;

const MAX_INDEXED_NODES = 20_000;
/** Longest `$id` in characters, as written and as resolved. Longer ones are ignored: every name below repeats them. */
const MAX_ADDRESS = 500;
/** Base of relative `$id`s in a document without an address. */
const NO_BASE = "schema://document/";

/**
 * Builds the resolver for one schema document. Understood: JSON pointers (`#/$defs/A`, to any place), `#`, anchors,
 * and references to an `$id` inside the document, all as seen from the part they stand in, or else from the document
 * as a whole, where many authors mean them. Nothing is ever fetched.
 */
export function createRefResolver(root: unknown): RefResolver {
  let index: DocumentIndex | undefined;
  return (ref, holder) => {
    index ??= indexDocument(root);
    const home = index.parts.get(holder) ?? index.whole;
    return [find(ref, home, index), find(ref, index.whole, index)].find(isSchema);
  };
}

/** True for a schema of a draft that ignores the keywords beside a `$ref`. */
export function isOldDraft(root: Readonly<Record<string, unknown>>): boolean {
  return typeof root.$schema === "string" && /draft-0[3-7]/.test(root.$schema);
}

/**
 * Keywords beside a `$ref` of an old draft. They apply, as in later drafts, because authors mean them to. Keywords that
 * could refuse the referenced values are dropped: `type`, `additionalProperties` and `additionalItems`.
 */
export function readSiblings(node: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { type: _, additionalProperties: __, additionalItems: ___, ...siblings } = node;
  return siblings;
}

/** The document, or a part of it with an `$id` of its own. */
interface Part {
  readonly root: unknown;
  readonly base: string;
}

interface DocumentIndex {
  readonly whole: Part;
  /** The part each object of an embedded one belongs to; objects of the document itself are not in it. */
  readonly parts: ReadonlyMap<object, Part>;
  /** Parts by the `$id` as written and as resolved, and anchors behind either the address of their part or nothing. */
  readonly named: ReadonlyMap<string, unknown>;
}

function find(ref: string, { root, base }: Part, { named }: DocumentIndex): unknown {
  if (ref === "#" || ref === "") return root;
  if (ref.startsWith("#/")) {
    const target = followPointer(root, ref.slice(1));
    if (isSchema(target)) return target;
  }
  const [address = "", fragment = ""] = ref.split("#", 2);
  const resolved = address === "" ? base : resolveAddress(address, base);
  const exact = [`${resolved}#${fragment}`, ref].map((name) => named.get(name)).find(isSchema);
  if (exact !== undefined && fragment !== "") return exact;
  const document = address === "" ? root : (named.get(resolved) ?? named.get(address));
  return fragment === "" || document === undefined ? document : followPointer(document, fragment);
}

function resolveAddress(address: string, base: string): string {
  try {
    return new URL(address, base).href;
  } catch {
    return address;
  }
}

function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === "boolean" || isRecord(value);
}

function followPointer(document: unknown, pointer: string): unknown {
  if (!pointer.startsWith("/")) return undefined;
  let place = document;
  for (const part of pointer.slice(1).split("/")) {
    place = getOwn(place, part) ?? getOwn(place, decodePart(part));
  }
  return place;
}

function decodePart(part: string): string {
  let text = part;
  try {
    text = decodeURIComponent(part);
  } catch {
    // Not percent-encoded after all: the characters stand for themselves.
  }
  return text.replaceAll("~1", "/").replaceAll("~0", "~");
}

/** Every `$id` (and draft-04 `id`) and anchor of a document, breadth first, the first of equal names kept. */
function indexDocument(root: unknown): DocumentIndex {
  const whole = { root, base: resolveAddress(isRecord(root) ? readId(root, "$id") : "", NO_BASE) };
  const parts = new Map<object, Part>();
  const named = new Map<string, unknown>();
  const add = (name: string, node: unknown): void => {
    if (!named.has(name)) named.set(name, node);
  };
  const queue: { node: object; part: Part }[] = [];
  const enqueue = (node: unknown, part: Part): void => {
    if (typeof node === "object" && node !== null && queue.length < MAX_INDEXED_NODES) queue.push({ node, part });
  };
  enqueue(root, whole);
  for (let index = 0; index < queue.length; index++) {
    const { node, part: outer } = queue[index] ?? { node: {}, part: whole };
    const part = isRecord(node) && node !== root ? openPart(node, outer) : outer;
    if (part !== whole && !parts.has(node)) parts.set(node, part);
    if (isRecord(node)) nameNode(node, part, add);
    for (const child of Object.values(node)) enqueue(child, part);
  }
  return { whole, parts, named };
}

/** The part a node opens by an `$id` that is more than a name within its part, or the one it stands in. */
function openPart(node: Record<string, unknown>, outer: Part): Part {
  const id = readId(node, "$id");
  if (id === "" || id.startsWith("#")) return outer;
  const base = resolveAddress(id, outer.base);
  return base.length > MAX_ADDRESS ? outer : { root: node, base };
}

function nameNode(node: Record<string, unknown>, part: Part, add: (name: string, node: unknown) => void): void {
  for (const keyword of ["$id", "id"]) {
    const id = readId(node, keyword);
    if (id === "") continue;
    add(id, node);
    add(keyword === "$id" && part.root === node ? part.base : resolveAddress(id, part.base), node);
  }
  for (const keyword of ["$anchor", "$dynamicAnchor"]) {
    const anchor = getOwn(node, keyword);
    if (typeof anchor !== "string") continue;
    add(`${part.base}#${anchor}`, node);
    add(`#${anchor}`, node);
  }
}

/** An address without an empty fragment; empty for a missing or too long address. */
function readId(node: Record<string, unknown>, keyword: string): string {
  const id = getOwn(node, keyword);
  if (typeof id !== "string" || id.length > MAX_ADDRESS) return "";
  return id.endsWith("#") ? id.slice(0, -1) : id;
}
