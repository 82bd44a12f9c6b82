import { getOwn, isRecord } from "./json-schema.ts";

/** Finds what a `$ref` of one document points at: a schema object, a boolean schema, or undefined. */
export type RefResolver = (ref: string) => Record<string, unknown> | boolean | undefined;

const MAX_INDEXED_NODES = 20_000;

/**
 * Builds the resolver for one schema document. Understood: JSON pointers (`#/$defs/A`, to any place), `#`, anchors,
 * and references to an `$id` inside the document. Nothing is ever fetched.
 */
export function createRefResolver(root: unknown): RefResolver {
  let named: ReadonlyMap<string, unknown> | undefined;
  return (ref) => {
    const target = ref.startsWith("#/") ? followPointer(root, ref.slice(1)) : undefined;
    if (isSchema(target)) return target;
    if (ref === "#" || ref === "") return isSchema(root) ? root : undefined;
    named ??= indexNames(root);
    const exact = named.get(ref);
    if (isSchema(exact)) return exact;
    const [base = "", fragment = ""] = ref.split("#", 2);
    const document = base === "" ? root : named.get(base);
    const found = fragment === "" || document === undefined ? document : followPointer(document, fragment);
    return isSchema(found) ? found : undefined;
  };
}

function isSchema(value: unknown): value is Record<string, unknown> | boolean {
  return typeof value === "boolean" || isRecord(value);
}

function followPointer(document: unknown, pointer: string): unknown {
  if (!pointer.startsWith("/")) return undefined;
  let place = document;
  for (const part of pointer.slice(1).split("/")) {
    if (typeof place !== "object" || place === null) return undefined;
    const key = decodePart(part);
    place = Object.hasOwn(place, part) ? getOwn(place, part) : getOwn(place, key);
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
function indexNames(root: unknown): ReadonlyMap<string, unknown> {
  const named = new Map<string, unknown>();
  const add = (name: string, node: unknown): void => {
    if (!named.has(name)) named.set(name, node);
  };
  const queue: unknown[] = [root];
  for (let index = 0; index < queue.length && index < MAX_INDEXED_NODES; index++) {
    const node = queue[index];
    if (typeof node !== "object" || node === null) continue;
    if (isRecord(node)) {
      for (const keyword of ["$id", "id"]) {
        const id = getOwn(node, keyword);
        if (typeof id === "string") add(id.endsWith("#") ? id.slice(0, -1) : id, node);
      }
      for (const keyword of ["$anchor", "$dynamicAnchor"]) {
        const anchor = getOwn(node, keyword);
        if (typeof anchor === "string") add(`#${anchor}`, node);
      }
    }
    for (const child of Object.values(node)) {
      if (queue.length >= MAX_INDEXED_NODES) break;
      if (typeof child === "object" && child !== null) queue.push(child);
    }
  }
  return named;
}
