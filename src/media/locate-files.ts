import mime from "mime";
import {
  classifyReference,
  cleanFileName,
  looksLocal,
  nameOfReference,
  type ReferenceKind,
  unmarkUrl,
} from "./classify-reference.ts";
import {
  elementSchema,
  expandSchema,
  isJsonObject,
  type JsonObject,
  memberSchema,
  readFilePlace,
  type SchemaNodes,
} from "./file-schema.ts";

/** One file reference found in the arguments. */
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
  /** MIME type the caller gave, unchecked. */
  readonly mimetype?: string;
}

/** What {@link locateFiles} found; `args` is a copy, the caller's object is untouched. */
export interface LocatedFiles {
  readonly args: Record<string, unknown>;
  readonly files: readonly LocatedFile[];
}

interface Walk {
  readonly schema: unknown;
  readonly files: LocatedFile[];
}

type Path = readonly (string | number)[];

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

function visit(value: unknown, nodes: SchemaNodes, path: Path, walk: Walk): unknown {
  if (path.length > MAX_DEPTH) return value;
  const place = readFilePlace(nodes);
  if (Array.isArray(value)) return value.map((item, index) => visitElement(item, index, nodes, path, walk));
  if (place.kind === "marked" && !place.isArray) return visitFile(value, place.isText, path, walk);
  if (place.isArray && isSingleFile(value, nodes, walk)) return [visitElement(value, 0, nodes, path, walk)];
  if (!isJsonObject(value)) return value;
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
  return places.some((place) => place.kind === "marked") && (typeof value === "string" || isJsonObject(value));
}

function isFileByValue(value: JsonObject): boolean {
  if (typeof value.s3key === "string") return looksLocal(value.s3key);
  const named = typeof value.name === "string" || typeof value.mimetype === "string";
  return named && [value.path, value.url].some((text) => typeof text === "string" && looksLocal(text));
}

function visitFile(value: unknown, isText: boolean, path: Path, walk: Walk): unknown {
  const given: JsonObject = typeof value === "string" ? { s3key: value } : isJsonObject(value) ? value : {};
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
