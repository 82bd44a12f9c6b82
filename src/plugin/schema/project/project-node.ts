import { cloneJson, isRecord, setOwn } from "../../../shared/base/json.ts";
import { shortenToSentence } from "../../../shared/base/text.ts";
import {
  isCount,
  isFileSchema,
  NUMBER_LIMITS,
  readTypes,
  type SchemaDraft,
  showFileSchema,
} from "../../../shared/schema-check/json-schema.ts";
import { compiles } from "../../../shared/schema-check/read-pattern.ts";
import {
  type FlatNode,
  flattenNode,
  isFull,
  LINKS,
  NODE_COST,
  type Projection,
  type ProjectionPlace,
  spend,
} from "./merge-schemas.ts";
import { appendText, projectTypes } from "./project-types.ts";
import { collapseUnion, projectUnion } from "./project-union.ts";
import { isLegalKey } from "./rename-keys.ts";

type Source = Readonly<Record<string, unknown>>;

const MAX_DESCRIPTION = 1_024;
const MAX_TITLE = 200;
const MAX_EXAMPLES = 10;
const MAX_EXAMPLE = 2_000;

const LIMITS = ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"] as const;
const FLAGS = ["deprecated", "readOnly", "writeOnly"];
const FORMATS = ["format", "contentEncoding", "contentMediaType"];
const UNSHOWN = [
  "not",
  "if",
  "then",
  "else",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "propertyNames",
  "patternProperties",
  "unevaluatedProperties",
  "unevaluatedItems",
  "contains",
];

/** The readers of a node that its keywords call for: most nodes have few, and most readers find nothing. */
const READER = { rare: 1, limits: 2, object: 4, array: 8, union: 16, unshown: 32, link: 64, file: 128 } as const;
const READERS: ReadonlyMap<string, number> = new Map([
  ...["default", "examples", "example", ...FLAGS, ...FORMATS].map((keyword) => [keyword, READER.rare] as const),
  ...[...LIMITS, ...NUMBER_LIMITS.flat(), "multipleOf", "uniqueItems", "pattern"].map(
    (keyword) => [keyword, READER.limits] as const,
  ),
  ...LINKS.map((keyword) => [keyword, READER.link] as const),
  ["file_uploadable", READER.file],
  ["properties", READER.object | READER.file],
  ["additionalProperties", READER.object],
  ...["items", "prefixItems", "additionalItems"].map((keyword) => [keyword, READER.array] as const),
  ...["anyOf", "oneOf"].map((keyword) => [keyword, READER.union] as const),
  ...UNSHOWN.map((keyword) => [keyword, READER.unshown] as const),
  ["patternProperties", READER.unshown | READER.object],
]);

function findReaders(node: Source): number {
  let readers = 0;
  for (const keyword of Object.keys(node)) readers |= READERS.get(keyword) ?? 0;
  return readers;
}

/** Projects one node and everything below it, cut at the limits of the projection. A `false` schema gives undefined. */
export function projectNode(node: unknown, place: ProjectionPlace, projection: Projection): SchemaDraft | undefined {
  if (node === false) return undefined;
  if (!isRecord(node)) return {};
  projection.shown++;
  const readers = findReaders(node);
  if (readers & (READER.link | READER.union)) return projectLinked(node, place, projection);
  if (!spend(projection, NODE_COST)) return projectLinked({}, place, projection);
  if (readers & READER.file && isFileSchema(node)) return projectFile(node);
  if (place.depth > projection.maxDepth || isFull(projection)) return cutNode(node, "", projection);
  return readNode(node, readers, place, projection);
}

/** Projects a node that is said by several schemas, or may be one of several. */
function projectLinked(node: Source, place: ProjectionPlace, projection: Projection): SchemaDraft {
  const raw = flattenNode(node, place.stack, projection);
  if (raw.nested !== undefined) return cutNode(raw.node, raw.nested, projection);
  if (isFileSchema(raw.node)) return projectFile(raw.node);
  const flat = flattenAgain(collapseUnion(raw, projection), projection);
  if (flat.nested !== undefined) return cutNode(flat.node, flat.nested, projection);
  if (flat !== raw && isFileSchema(flat.node)) return projectFile(flat.node);
  if (place.depth > projection.maxDepth || isFull(projection)) return cutNode(flat.node, "", projection);
  return projectFlat(flat.node, { depth: place.depth, stack: flat.stack }, projection);
}

/** A union of one branch that leads back is that reference. */
function flattenAgain(flat: FlatNode, projection: Projection): FlatNode {
  return typeof flat.node.$ref === "string" ? flattenNode(flat.node, flat.stack, projection) : flat;
}

/** Projects a node that holds neither `$ref` nor `allOf`. */
export function projectFlat(node: Source, place: ProjectionPlace, projection: Projection): SchemaDraft {
  return readNode(node, findReaders(node), place, projection);
}

function readNode(node: Source, readers: number, place: ProjectionPlace, projection: Projection): SchemaDraft {
  if (readers & READER.unshown) {
    for (const keyword of UNSHOWN) if (node[keyword] !== undefined) projection.dropped.add(keyword);
  }
  const shown: SchemaDraft = {};
  copyTexts(node, shown);
  if (readers & READER.rare) copyAnnotations(node, shown);
  if (readers & READER.limits) copyValueLimits(node, shown);
  if (readers & READER.object) copyObject(node, shown, place, projection);
  if (readers & READER.array) copyArray(node, shown, place, projection);
  if (readers & READER.union) projectUnion(node, shown, place, projection);
  return projectTypes(node, shown);
}

function projectFile(node: Source): SchemaDraft {
  const shown = showFileSchema(node);
  const types = readTypes(node.type);
  if (node.nullable === true || types?.includes("null")) shown.type = ["object", "null"];
  return shown;
}

/** Stands for a part that is not shown: too deep, or a definition inside itself. */
function cutNode(node: Source, name: string, projection: Projection): SchemaDraft {
  projection.notes.add("Parts nested too deeply, or in themselves, are not shown.");
  const shown: SchemaDraft = {};
  copyTexts(node, shown);
  copyAnnotations(node, shown);
  appendText(shown, `(nested ${name || (typeof node.title === "string" ? node.title : "value")})`);
  return projectTypes({ type: node.type, nullable: node.nullable }, shown);
}

function copyTexts(node: Source, shown: SchemaDraft): void {
  if (typeof node.title === "string") shown.title = shortenToSentence(node.title, MAX_TITLE);
  if (typeof node.description === "string") shown.description = shortenToSentence(node.description, MAX_DESCRIPTION);
}

function copyAnnotations(node: Source, shown: SchemaDraft): void {
  if (node.default !== undefined && node.default !== null && isShort(node.default)) {
    shown.default = cloneJson(node.default);
  }
  const examples = readExamples(node).slice(0, MAX_EXAMPLES).filter(isShort);
  if (examples.length > 0) shown.examples = examples.map(cloneJson);
  for (const keyword of FLAGS) if (node[keyword] === true) shown[keyword] = true;
  for (const keyword of FORMATS) if (typeof node[keyword] === "string") shown[keyword] = node[keyword];
}

const short = new WeakMap<object, boolean>();

/** Remembered for objects: a definition's own are looked at again wherever it is referred to. */
function isShort(value: unknown): boolean {
  if (typeof value === "string") return value.length <= MAX_EXAMPLE;
  if (typeof value !== "object" || value === null) return true;
  const answer = short.get(value) ?? JSON.stringify(value).length <= MAX_EXAMPLE;
  short.set(value, answer);
  return answer;
}

/** `examples` as a list, the map of OpenAPI, or a single `example`. */
function readExamples(node: Source): unknown[] {
  if (Array.isArray(node.examples)) return node.examples;
  if (isRecord(node.examples)) {
    return Object.values(node.examples).map((entry) => (isRecord(entry) && "value" in entry ? entry.value : entry));
  }
  return node.example === undefined || node.example === null ? [] : [node.example];
}

function copyValueLimits(node: Source, shown: SchemaDraft): void {
  for (const keyword of LIMITS) if (isCount(node[keyword])) shown[keyword] = node[keyword];
  for (const [keyword, exclusive] of NUMBER_LIMITS) {
    if (isBound(node[keyword])) shown[node[exclusive] === true ? exclusive : keyword] = node[keyword];
    if (isBound(node[exclusive])) shown[exclusive] = node[exclusive];
  }
  if (isBound(node.multipleOf) && node.multipleOf > 0) shown.multipleOf = node.multipleOf;
  if (node.uniqueItems === true) shown.uniqueItems = true;
  if (typeof node.pattern === "string" && node.pattern.length <= MAX_DESCRIPTION && compiles(node.pattern)) {
    shown.pattern = node.pattern;
  }
}

/** A bound that providers can read: none of them takes a number that 64 bits do not hold. */
function isBound(value: unknown): value is number {
  return Number.isFinite(value) && Math.abs(Number(value)) < 2 ** 63;
}

function copyObject(node: Source, shown: SchemaDraft, place: ProjectionPlace, projection: Projection): void {
  const below = { depth: place.depth + 1, stack: place.stack };
  let keysKnown = true;
  if (isRecord(node.properties)) {
    const properties: SchemaDraft = {};
    for (const key of Object.keys(node.properties)) {
      if (isFull(projection)) {
        projection.notes.add("Only the first properties are shown.");
        keysKnown = false;
        break;
      }
      const property = projectNode(node.properties[key], below, projection);
      if (property === undefined) continue;
      setOwn(properties, key, property);
      projection.hasIllegalKey ||= !isLegalKey(key, projection.reserved);
    }
    shown.properties = properties;
    const required = readRequired(node.required, properties);
    if (required.length > 0) shown.required = required;
  }
  if (keysKnown) copyAdditional(node, shown, below, projection);
}

/** Names without repeats, of properties that are shown. */
function readRequired(required: unknown, properties: SchemaDraft): string[] {
  if (!Array.isArray(required)) return [];
  const names = new Set<string>();
  for (const name of required) if (typeof name === "string" && Object.hasOwn(properties, name)) names.add(name);
  return [...names];
}

/** Keys allowed by a pattern are additional ones once the patterns are not shown. */
function copyAdditional(node: Source, shown: SchemaDraft, below: ProjectionPlace, projection: Projection): void {
  const patterns = isRecord(node.patternProperties) ? Object.values(node.patternProperties) : [];
  let additional = node.additionalProperties;
  if (patterns.length > 0) {
    if (additional !== false) return;
    additional = patterns.length === 1 ? patterns[0] : { anyOf: patterns };
  }
  if (additional === undefined) return;
  if (typeof additional === "boolean") shown.additionalProperties = additional;
  else shown.additionalProperties = projectNode(additional, below, projection) ?? false;
}

function copyArray(node: Source, shown: SchemaDraft, place: ProjectionPlace, projection: Projection): void {
  const below = { depth: place.depth + 1, stack: place.stack };
  const oldTuple = Array.isArray(node.items);
  const tuple = oldTuple ? node.items : node.prefixItems;
  const rest = oldTuple ? node.additionalItems : node.items;
  if (Array.isArray(tuple) && tuple.length > 0) copyTuple(tuple, rest, shown, below, projection);
  else if (rest === false) shown.maxItems = 0;
  else if (rest !== undefined) shown.items = projectNode(rest, below, projection) ?? {};
}

/** Turns a tuple into a list that accepts any of its schemas; the order is described in words. */
function copyTuple(
  tuple: readonly unknown[],
  rest: unknown,
  shown: SchemaDraft,
  below: ProjectionPlace,
  projection: Projection,
): void {
  const isClosed = rest === false || (isCount(shown.maxItems) && shown.maxItems <= tuple.length);
  if (rest === false) shown.maxItems = Math.min(tuple.length, isCount(shown.maxItems) ? shown.maxItems : tuple.length);
  const places = isClosed ? tuple : [...tuple, rest ?? true];
  const items = places.map((item) => projectNode(item, below, projection) ?? {});
  const distinct = [...new Map(items.map((item) => [JSON.stringify(item), item])).values()];
  const isOpen = distinct.some((item) => Object.keys(item).length === 0);
  shown.items = isOpen ? {} : distinct.length === 1 ? distinct[0] : { anyOf: distinct };
  const kinds = items.slice(0, tuple.length).map((item) => item.title ?? item.type ?? "any value");
  appendText(shown, `In this order: ${kinds.join(", ")}.`);
}
