import { FILE_UPLOADABLE_KEYWORD } from "../wire/file.ts";

/** A JSON object: a schema node or a part of the arguments. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Schema nodes that together describe one place in the arguments: the node, its parts and its alternatives. */
export type SchemaNodes = readonly JsonObject[];

const MAX_NODES = 500;
/** Entries of combiners that are looked at to find them, whatever they are. */
const MAX_ENTRIES = 5_000;
/** Characters of a reference that is followed: this is done anew for each argument. */
const MAX_REF = 1_000;
const COMBINERS = ["allOf", "anyOf", "oneOf"] as const;
const BRANCHES = ["if", "then", "else"] as const;

/** True for a plain JSON object. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Collects a node, what its local `$ref` names, and the members of its combiners; each node once, at most 500. */
export function expandSchema(start: readonly unknown[], root: unknown): SchemaNodes {
  const found = new Set<JsonObject>();
  const queue = [...start];
  for (const node of queue) {
    if (found.size >= MAX_NODES) break;
    if (!isJsonObject(node) || found.has(node)) continue;
    found.add(node);
    if (typeof node.$ref === "string") queue.push(resolveLocalRef(node.$ref, root));
    for (const key of COMBINERS) {
      const members = node[key];
      if (Array.isArray(members)) queue.push(...members.slice(0, Math.max(0, MAX_ENTRIES - queue.length)));
    }
    for (const key of BRANCHES) queue.push(node[key]);
  }
  return [...found];
}

/** `#/$defs/File` and the like; anything longer, or that leaves the document, is ignored. */
function resolveLocalRef(ref: string, root: unknown): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/") || ref.length > MAX_REF) return undefined;
  let at: unknown = root;
  for (const part of ref.slice(2).split("/")) {
    const key = unescapePointer(part);
    const entry: unknown = Array.isArray(at)
      ? at[Number(key)]
      : isJsonObject(at) && Object.hasOwn(at, key)
        ? at[key]
        : undefined;
    at = entry;
  }
  return at;
}

function unescapePointer(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

/** Nodes for member `key` of an object. */
export function memberSchema(nodes: SchemaNodes, key: string, root: unknown): SchemaNodes {
  const start = nodes.flatMap((node) => {
    const named = isJsonObject(node.properties) && Object.hasOwn(node.properties, key) ? [node.properties[key]] : [];
    return named.length > 0 ? named : [node.additionalProperties];
  });
  return expandSchema(start, root);
}

/** Nodes for element `index` of an array. */
export function elementSchema(nodes: SchemaNodes, index: number, root: unknown): SchemaNodes {
  const start = nodes.flatMap((node) => {
    const tuple = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : [];
    if (index < tuple.length) return [tuple[index]];
    return Array.isArray(node.items) ? [node.additionalItems] : [node.items];
  });
  return expandSchema(start, root);
}

/** How the schema speaks about files at one place. */
export interface FilePlace {
  /** `marked`: a file field. `described`: some other thing with members of its own. `open`: the schema says nothing. */
  readonly kind: "marked" | "described" | "open";
  /** Only a list fits here; for a marked place, the mark itself sits on the list. */
  readonly isArray: boolean;
  /** The schema allows text only, so that a web address must stay a plain string. */
  readonly isText: boolean;
}

/** Tells whether a place is file-uploadable: by the schema mark, or by the members `name`, `mimetype`, `s3key`. */
export function readFilePlace(nodes: SchemaNodes): FilePlace {
  const members = nodes.map((node) => node.properties).filter(isJsonObject);
  const has = (key: string) => members.some((map) => Object.hasOwn(map, key));
  const types = new Set(nodes.flatMap((node) => node.type ?? []));
  const shaped = ["name", "mimetype", "s3key"].every(has);
  const marks = nodes.filter((node) => node[FILE_UPLOADABLE_KEYWORD] === true);
  const isText = types.has("string") && !types.has("object") && !shaped;
  if (shaped || marks.length > 0) {
    return {
      kind: "marked",
      isArray: !shaped && marks.some((node) => node.type === "array" || "items" in node),
      isText,
    };
  }
  const isArray = types.has("array") && !types.has("string") && !types.has("object");
  return { kind: members.some(isFilled) && !has("s3key") ? "described" : "open", isArray, isText };
}

const filled = new WeakMap<JsonObject, boolean>();

/** True for an object with members. Remembered: the same one is asked about for each item of a list. */
function isFilled(map: JsonObject): boolean {
  const answer = filled.get(map) ?? Object.keys(map).length > 0;
  filled.set(map, answer);
  return answer;
}
