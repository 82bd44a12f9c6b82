import mime from "mime";
import { getAt, isRecord } from "../../../shared/base/json.ts";
import { FILE_UPLOADABLE_KEYWORD } from "../../../shared/wire/file.ts";
import {
  classifyReference,
  cleanFileName,
  looksLocal,
  nameOfReference,
  type ReferenceKind,
  unmarkUrl,
} from "./classify-reference.ts";

/** A reference to a file in the arguments of a call; the file has not been looked at. */
export interface LocatedFile {
  /** Dotted path for people, e.g. `attachments[0]`. */
  readonly field: string;
  /** The same path as keys and indexes, into the normalised arguments. */
  readonly path: readonly (string | number)[];
  /** The reference exactly as the caller wrote it. */
  readonly reference: string;
  readonly kind: ReferenceKind;
  /** Name the caller gave, cleaned to one file name. */
  readonly name?: string;
  readonly mimetype?: string;
}

interface LocatedFiles {
  readonly args: Record<string, unknown>;
  readonly files: readonly LocatedFile[];
}

interface Walk {
  readonly schema: unknown;
  readonly files: LocatedFile[];
}

type Path = readonly (string | number)[];

/** Deeper arguments are left as they are: the walk is recursive. */
const MAX_DEPTH = 40;
const ALIASES = ["s3key", "path", "url", "filePath", "fileUrl", "mediaUrl"] as const;

/**
 * Finds the file references in a call and brings each into the documented object `{name, mimetype, s3key}`
 * ("File-uploadable object"). No file is looked at: a missing `name` or `mimetype` is filled from the reference's own
 * text and corrected when the file is inspected.
 *
 * A place counts as a file when its schema has the mark or the three members. Where the schema says nothing about the
 * members, an object counts when its `s3key` is a local reference, or when it has a local `path` or `url` next to a
 * `name` or `mimetype`.
 */
export function locateFiles(inputSchema: unknown, args: Readonly<Record<string, unknown>>): LocatedFiles {
  const walk: Walk = { schema: inputSchema, files: [] };
  const nodes = expandSchema([inputSchema], inputSchema);
  return { args: visitMembers(args, nodes, [], walk), files: walk.files };
}

/** True when a member of the arguments takes a file or a list of files. */
export function isFileField(inputSchema: unknown, key: string): boolean {
  const nodes = memberSchema(expandSchema([inputSchema], inputSchema), key, inputSchema);
  return [nodes, elementSchema(nodes, 0, inputSchema)].some((place) => readFilePlace(place).kind === "marked");
}

function visit(value: unknown, nodes: SchemaNodes, path: Path, walk: Walk): unknown {
  if (path.length > MAX_DEPTH) return value;
  const place = readFilePlace(nodes);
  if (Array.isArray(value)) return value.map((item, index) => visitElement(item, index, nodes, path, walk));
  if (place.kind === "marked" && !place.isArray) return visitFile(value, place.isText, path, walk);
  if (place.isArray && isSingleFile(value, nodes, walk)) return [visitElement(value, 0, nodes, path, walk)];
  if (!isRecord(value)) return value;
  if (place.kind === "open" && isFileByValue(value)) return visitFile(value, false, path, walk);
  return visitMembers(value, nodes, path, walk);
}

function visitMembers(value: JsonObject, nodes: SchemaNodes, path: Path, walk: Walk): Record<string, unknown> {
  const entries = Object.entries(value).map(([key, item]) => {
    return [key, visit(item, memberSchema(nodes, key, walk.schema), [...path, key], walk)];
  });
  return Object.fromEntries(entries);
}

/** An element of an array whose own node carries the mark counts as marked too. */
function visitElement(item: unknown, index: number, nodes: SchemaNodes, path: Path, walk: Walk): unknown {
  const own = elementSchema(nodes, index, walk.schema);
  const place = readFilePlace(nodes);
  const at = [...path, index];
  if (place.kind !== "marked" || Array.isArray(item)) return visit(item, own, at, walk);
  return visitFile(item, own.length > 0 && readFilePlace(own).isText, at, walk);
}

/** One file given where the schema asks for a list of them. */
function isSingleFile(value: unknown, nodes: SchemaNodes, walk: Walk): boolean {
  const places = [readFilePlace(nodes), readFilePlace(elementSchema(nodes, 0, walk.schema))];
  return places.some((place) => place.kind === "marked") && (typeof value === "string" || isRecord(value));
}

function isFileByValue(value: JsonObject): boolean {
  if (typeof value.s3key === "string") return looksLocal(value.s3key);
  const named = typeof value.name === "string" || typeof value.mimetype === "string";
  return named && [value.path, value.url].some((text) => typeof text === "string" && looksLocal(text));
}

function visitFile(value: unknown, isText: boolean, path: Path, walk: Walk): unknown {
  const given: JsonObject = typeof value === "string" ? { s3key: value } : isRecord(value) ? value : {};
  const alias = ALIASES.find((key) => typeof given[key] === "string" && given[key] !== "") ?? "s3key";
  const raw = given[alias];
  // Not a reference at all: the argument check says so better than a file check could.
  if (typeof raw !== "string") return value;
  const reference = unmarkUrl(raw);
  const kind = classifyReference(reference);
  const name = typeof given.name === "string" ? cleanFileName(given.name) : undefined;
  const mimetype =
    typeof given.mimetype === "string" && given.mimetype.trim() !== "" ? given.mimetype.trim() : undefined;
  const found = { field: toField(path), path, reference, kind };
  walk.files.push({ ...found, ...(name !== undefined && { name }), ...(mimetype !== undefined && { mimetype }) });
  if (isText && typeof value === "string" && kind !== "local") return reference;
  const rest = Object.fromEntries(Object.entries(given).filter(([key]) => !ALIASES.some((one) => one === key)));
  return { ...rest, ...describe(reference, kind, name, mimetype), s3key: reference };
}

/** Name and type as far as text tells; a storage key's own are known to the service only. */
function describe(reference: string, kind: ReferenceKind, name?: string, mimetype?: string): JsonObject {
  if (kind === "storage_key")
    return { ...(name !== undefined && { name }), ...(mimetype !== undefined && { mimetype }) };
  const known = name ?? nameOfReference(reference) ?? "file";
  return { name: known, mimetype: mimetype ?? mime.getType(known) ?? "application/octet-stream" };
}

function toField(path: Path): string {
  return path.map((key, index) => (typeof key === "number" ? `[${key}]` : index === 0 ? key : `.${key}`)).join("");
}

/** A JSON object: a schema node or a part of the arguments. */
type JsonObject = Readonly<Record<string, unknown>>;

/** Schema nodes that together describe one place in the arguments: the node, its parts and its alternatives. */
type SchemaNodes = readonly JsonObject[];

/** Bounds the time for one place in the arguments, whatever the schema. */
const MAX_NODES = 500;
/** Most members of combiners visited on the way, repeated ones included. */
const MAX_ENTRIES = 5_000;
/** Longest `$ref` that is followed, in characters: it is resolved again for each argument. */
const MAX_REF = 1_000;
const COMBINERS = ["allOf", "anyOf", "oneOf"] as const;
const BRANCHES = ["if", "then", "else"] as const;

/** Collects a node, the target of its local `$ref`, and the members of its combiners; each node once, at most 500. */
function expandSchema(start: readonly unknown[], root: unknown): SchemaNodes {
  const found = new Set<JsonObject>();
  const queue = [...start];
  for (const node of queue) {
    if (found.size >= MAX_NODES) break;
    if (!isRecord(node) || found.has(node)) continue;
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

/** References of the form `#/$defs/File`; longer references and those to other documents are ignored. */
function resolveLocalRef(ref: string, root: unknown): unknown {
  if (ref === "#") return root;
  if (!ref.startsWith("#/") || ref.length > MAX_REF) return undefined;
  return getAt(root, ref.slice(2).split("/").map(unescapePointer));
}

function unescapePointer(part: string): string {
  const plain = part.replaceAll("~1", "/").replaceAll("~0", "~");
  try {
    return decodeURIComponent(plain);
  } catch {
    return plain;
  }
}

function memberSchema(nodes: SchemaNodes, key: string, root: unknown): SchemaNodes {
  const start = nodes.flatMap((node) => {
    const named = isRecord(node.properties) && Object.hasOwn(node.properties, key) ? [node.properties[key]] : [];
    return named.length > 0 ? named : [node.additionalProperties];
  });
  return expandSchema(start, root);
}

function elementSchema(nodes: SchemaNodes, index: number, root: unknown): SchemaNodes {
  const start = nodes.flatMap((node) => {
    const tuple = Array.isArray(node.prefixItems) ? node.prefixItems : Array.isArray(node.items) ? node.items : [];
    if (index < tuple.length) return [tuple[index]];
    return Array.isArray(node.items) ? [node.additionalItems] : [node.items];
  });
  return expandSchema(start, root);
}

/** How the schema speaks about files at one place. */
interface FilePlace {
  /** `marked`: a file field. `described`: some other thing with members of its own. `open`: the schema says nothing. */
  readonly kind: "marked" | "described" | "open";
  /** Only a list fits here; for a marked place, the mark itself sits on the list. */
  readonly isArray: boolean;
  /** The schema allows text only, so that a web address must stay a plain string. */
  readonly isText: boolean;
}

/** Tells whether a place is file-uploadable: by the schema mark, or by the members `name`, `mimetype`, `s3key`. */
function readFilePlace(nodes: SchemaNodes): FilePlace {
  const members = nodes.map((node) => node.properties).filter(isRecord);
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
