import { isRecord, setOwn } from "../../../shared/base/json.ts";
import { shortenToSentence } from "../../../shared/base/text.ts";
import { readTypes, type SchemaDraft } from "../../../shared/schema-check/json-schema.ts";
import { appendText } from "./project-types.ts";

type Source = Readonly<Record<string, unknown>>;

/** Keywords of Google's schema object that mean the same there. */
const KEPT = [
  "description",
  "default",
  "required",
  "pattern",
  "minLength",
  "maxLength",
  "minimum",
  "maximum",
  "minItems",
  "maxItems",
  "minProperties",
  "maxProperties",
] as const;

/** Formats Google takes, with the type they may stand beside: any other pair fails the whole request. */
const FORMATS: ReadonlyMap<string, string> = new Map([
  ["date-time", "string"],
  ["int32", "integer"],
  ["int64", "integer"],
  ["float", "number"],
  ["double", "number"],
]);
const MAX_TEXT = 300;
const MAX_VALUES = 30;

/**
 * Turns a projection into the OpenAPI subset of Google's function declarations: one type per node, `nullable` instead
 * of a null type, lists of allowed values for text only. The description says the rest in words.
 */
export function shapeForGemini(node: Source): SchemaDraft {
  const shaped: SchemaDraft = {};
  const types = readTypes(node.type);
  const type = types?.find((name) => name !== "null") ?? inferType(node, types !== undefined);
  if (type !== undefined) shaped.type = type;
  for (const keyword of KEPT) if (node[keyword] !== undefined) shaped[keyword] = node[keyword];
  if (types?.includes("null")) shaped.nullable = true;
  sayInWords(node, shaped);
  shapeValues(node, shaped);
  if (isRecord(node.properties)) shapeProperties(node.properties, shaped);
  if (isRecord(node.items)) shaped.items = shapeForGemini(node.items);
  else if (shaped.type === "array") shaped.items = { anyOf: ANY };
  if (Array.isArray(node.anyOf)) return shapeUnion(node.anyOf.filter(isRecord), shaped);
  return shaped.type === undefined ? { ...shaped, anyOf: ANY } : shaped;
}

/** Google takes no node without a type: any value is one of these. */
const ANY_ITEM = [{ type: "string" }, { type: "number" }, { type: "boolean" }, { type: "object" }] as const;
const ANY = [...ANY_ITEM, { type: "array", items: { anyOf: ANY_ITEM } }] as const;

/** Keywords that are said of values of one type, with that type. */
const SAID_OF: readonly (readonly [string, readonly string[]])[] = [
  ["object", ["properties", "additionalProperties", "required", "minProperties", "maxProperties"]],
  ["array", ["items", "minItems", "maxItems", "uniqueItems"]],
  ["string", ["pattern", "minLength", "maxLength", "format"]],
  ["number", ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]],
];

function inferType(node: Source, isNull: boolean): string | undefined {
  if (isNull) return "string";
  if (node.anyOf !== undefined) return undefined;
  return SAID_OF.find(([, keywords]) => keywords.some((keyword) => node[keyword] !== undefined))?.[0];
}

function shapeProperties(properties: Source, shaped: SchemaDraft): void {
  const copy: SchemaDraft = {};
  for (const key of Object.keys(properties)) {
    const property = properties[key];
    setOwn(copy, key, shapeForGemini(isRecord(property) ? property : {}));
  }
  // Google refuses an object whose list of properties is empty.
  if (Object.keys(copy).length > 0) shaped.properties = copy;
}

function sayInWords(node: Source, shaped: SchemaDraft): void {
  if (typeof node.format === "string") {
    if (shaped.type !== undefined && FORMATS.get(node.format) === shaped.type) shaped.format = node.format;
    else appendText(shaped, `Format: ${node.format}.`);
  }
  if (typeof node.exclusiveMinimum === "number") appendText(shaped, `Above ${node.exclusiveMinimum}.`);
  if (typeof node.exclusiveMaximum === "number") appendText(shaped, `Below ${node.exclusiveMaximum}.`);
  if (typeof node.multipleOf === "number") appendText(shaped, `A multiple of ${node.multipleOf}.`);
  if (node.uniqueItems === true) appendText(shaped, "No two equal items.");
  if (node.deprecated === true) appendText(shaped, "Deprecated.");
  if (isRecord(node.additionalProperties) && node.properties === undefined) {
    const [kind] = readTypes(node.additionalProperties.type) ?? [];
    appendText(shaped, `Keys are free${kind === undefined ? "" : `, values: ${kind}`}.`);
  }
  if (Array.isArray(node.examples) && node.examples.length > 0) {
    const texts = node.examples.map((example) => (typeof example === "string" ? example : JSON.stringify(example)));
    appendText(shaped, shortenToSentence(`Examples: ${texts.join("; ").replaceAll("\n", " ")}`, MAX_TEXT));
  }
}

function shapeValues(node: Source, shaped: SchemaDraft): void {
  if (!Array.isArray(node.enum)) return;
  const values = node.enum.filter((value) => value !== null);
  if (values.length < node.enum.length) shaped.nullable = true;
  const isText = shaped.type === undefined || shaped.type === "string";
  if (isText && values.length > 0 && values.every((value) => typeof value === "string" && value !== "")) {
    shaped.enum = values;
    return;
  }
  const some = values.slice(0, MAX_VALUES).map((value) => JSON.stringify(value));
  if (some.length > 0) appendText(shaped, `One of ${some.join(", ")}${some.length < values.length ? ", …" : ""}.`);
}

/** Google reads only the description beside `anyOf`, so other keywords move into the branches. */
function shapeUnion(branches: readonly Source[], outer: SchemaDraft): SchemaDraft {
  const { type } = outer;
  const shape = (branch: Source) => shapeForGemini(branch.anyOf === undefined && type ? { type, ...branch } : branch);
  const concrete = branches.filter((branch) => branch.type !== "null").map(shape);
  const { description, nullable, default: _, ...beside } = outer;
  const around: SchemaDraft = {};
  if (description !== undefined) around.description = description;
  if (nullable === true || concrete.length < branches.length) around.nullable = true;
  const [single] = concrete;
  if (single === undefined) return { ...outer, type: "string", nullable: true };
  if (concrete.length === 1) return { ...joinBranch(beside, single), ...around };
  return { ...around, anyOf: concrete.map((branch) => joinBranch(beside, branch)) };
}

function joinBranch(beside: SchemaDraft, branch: SchemaDraft): SchemaDraft {
  const joined: SchemaDraft = { ...beside, ...branch };
  if (isRecord(beside.properties) && isRecord(branch.properties)) {
    const own = Object.entries(branch.properties).filter(([, node]) => isRecord(node) && node.anyOf !== ANY);
    joined.properties = { ...branch.properties, ...beside.properties, ...Object.fromEntries(own) };
  }
  if (Array.isArray(beside.required) && Array.isArray(branch.required)) {
    joined.required = [...new Set([...beside.required, ...branch.required])];
  }
  return joined;
}
