import { isRecord, setOwn } from "../../../shared/base/json.ts";
import { shortenToSentence } from "../../../shared/base/text.ts";
import type { JsonSchema, SchemaDraft } from "../../../shared/schema-check/json-schema.ts";
import { isPlaceholderSchema } from "../../../shared/schema-check/placeholders.ts";
import { createRefResolver, isOldDraft } from "../../../shared/schema-check/resolve-ref.ts";
import { mergeRootUnion } from "./merge-root-union.ts";
import { BUDGET, flattenNode, type Projection } from "./merge-schemas.ts";
import { projectFlat, projectNode } from "./project-node.ts";
import { listInWords } from "./project-types.ts";
import { type RenamedKey, renameKeys } from "./rename-keys.ts";
import { shapeForGemini } from "./shape-for-gemini.ts";

/**
 * Which schemas a model provider takes. `full`: JSON Schema 2020-12 (OpenAI, Anthropic and most others). `gemini`: the
 * OpenAPI subset of Google's function declarations.
 */
export type SchemaProfile = "full" | "gemini";

/** A schema as a model is shown it. */
export interface ProjectedSchema {
  /** Root object, no `$ref`, no union at the root, legal keys, lists with `items`. */
  readonly schema: JsonSchema;
  /** Keys the model sees under another name; pass them to `restoreRenamedKeys` with every call's arguments. */
  readonly renamed: RenamedKey[];
  /** Sentences about parts that the schema does not show. */
  readonly notes: string[];
}

const MAX_SIZE = 16 * 1024;

/** How much of a schema is shown: levels, nodes, characters of a description, and values of a list. */
interface Extent extends TextLimits {
  readonly maxDepth: number;
  readonly maxNodes: number;
}

const WHOLE: Extent = { maxDepth: 12, maxNodes: 800, maxText: 1_024, maxValues: 1_000 };
/** Tried one after the other while a schema is larger than 16 KiB. */
const SMALLER: readonly Extent[] = [
  { ...WHOLE, maxText: 200 },
  { ...WHOLE, maxText: 80 },
  { ...WHOLE, maxDepth: 6, maxNodes: 500, maxText: 80 },
  { ...WHOLE, maxDepth: 4, maxNodes: 300, maxText: 80 },
];
const LEAST: Extent = { ...WHOLE, maxDepth: 3, maxNodes: 200, maxText: 80 };
/** For one whose nodes are long themselves, as those that Google is shown for any value. */
const FEW: Extent = { ...LEAST, maxNodes: 64 };
/** Limits for a schema that is still too large then. */
const FEW_VALUES: TextLimits = { maxText: 80, maxValues: 20 };

/** Properties Google's adapters delete by mistake while they keep them in `required`. */
const GEMINI_RESERVED: ReadonlySet<string> = new Set(["strict", "additionalProperties"]);
const UNAVAILABLE = "Schema unavailable: give arguments as documented.";
const NONE: ReadonlySet<string> = new Set();

const ROOT_KEYWORDS = [
  "title",
  "description",
  "properties",
  "required",
  "additionalProperties",
  "minProperties",
  "maxProperties",
  "examples",
] as const;

/** A projection with the JSON text of its schema. */
export interface WrittenProjection extends ProjectedSchema {
  readonly text: string;
}

/**
 * Projects a service's input schema to a schema for models: dialects cleaned, references inlined, unions and keys made
 * legal, files shown as references. Nothing valid for the service becomes invalid for the model; parts that cannot be
 * shown accept anything and are named in `notes`. Descriptions are cut at 1,024 characters; a schema over 16 KiB loses
 * descriptions past 200 characters, then depth and its last properties, then lists of over 20 values. Never throws and
 * never changes its input.
 */
export function projectToolSchema(
  inputSchema: unknown,
  { profile = "full" }: { profile?: SchemaProfile } = {},
): ProjectedSchema {
  const { schema, renamed, notes } = writeToolSchema(inputSchema, profile);
  return { schema, renamed, notes };
}

/** {@link projectToolSchema} for a caller who also needs the text, which is made in any case to measure the schema. */
export function writeToolSchema(inputSchema: unknown, profile: SchemaProfile): WrittenProjection {
  if (!isRecord(inputSchema)) return openSchema(UNAVAILABLE);
  try {
    const { properties } = inputSchema;
    const count = isRecord(properties) ? Object.keys(properties).length : 0;
    if (count === 0 && isPlaceholderSchema(inputSchema)) return openSchema(UNAVAILABLE);
    return projectWithinSize(inputSchema, profile, count > WHOLE.maxNodes);
  } catch {
    return openSchema("Schema unreadable: give arguments as documented.");
  }
}

function openSchema(note: string): WrittenProjection {
  return write({ schema: { type: "object", properties: {} }, renamed: [], notes: [note] });
}

function write(projected: ProjectedSchema): WrittenProjection {
  return { ...projected, text: JSON.stringify(projected.schema) };
}

/** @param isVast - true for a schema that is sure to be too large, so that only the smallest extent is tried. */
function projectWithinSize(
  inputSchema: Record<string, unknown>,
  profile: SchemaProfile,
  isVast: boolean,
): WrittenProjection {
  let projected = write(project(inputSchema, profile, isVast ? LEAST : WHOLE));
  const size = projected.text.length;
  if (size <= MAX_SIZE && !isVast) return projected;
  let extent = isVast ? LEAST : WHOLE;
  // A schema four times too large is not worth several attempts.
  for (const smaller of [...(size > 4 * MAX_SIZE ? [] : SMALLER), LEAST]) {
    const whole = smaller.maxNodes < extent.maxNodes ? project(inputSchema, profile, smaller) : projected;
    extent = smaller;
    projected = write({ ...whole, schema: trimTexts(whole.schema, smaller) });
    if (projected.text.length <= MAX_SIZE) break;
  }
  const shorten = (whole: ProjectedSchema) => write({ ...whole, schema: trimTexts(whole.schema, FEW_VALUES) });
  if (projected.text.length > MAX_SIZE) projected = shorten(projected);
  if (projected.text.length > MAX_SIZE) projected = shorten(project(inputSchema, profile, FEW));
  return { ...projected, notes: [...projected.notes, "Shortened: not all of the schema is shown."] };
}

function project(inputSchema: Record<string, unknown>, profile: SchemaProfile, extent: Extent): ProjectedSchema {
  const reserved = profile === "gemini" ? GEMINI_RESERVED : NONE;
  const projection: Projection = {
    resolve: createRefResolver(inputSchema),
    isOldDraft: isOldDraft(inputSchema),
    maxDepth: extent.maxDepth,
    maxNodes: extent.maxNodes,
    reserved,
    notes: new Set(),
    dropped: new Set(),
    project: projectNode,
    shown: 0,
    hasIllegalKey: false,
    budget: BUDGET,
  };
  const full = projectRoot(inputSchema, projection);
  const schema = profile === "gemini" ? shapeForGemini(full) : full;
  // The root has a list of properties, also where Google takes no empty one below it.
  schema.properties ??= {};
  const renamed = projection.hasIllegalKey ? renameKeys(schema, reserved) : [];
  const notes = [...projection.notes];
  if (projection.dropped.size > 0) notes.push(`Not shown: ${[...projection.dropped].join(", ")}.`);
  if (renamed.length > 0) {
    notes.push(
      `Renamed keys: ${renamed.map(({ original, shown }) => `${shortenToSentence(original, 80)} → ${shown}`).join(", ")}.`,
    );
  }
  return { schema, renamed, notes };
}

function projectRoot(inputSchema: Record<string, unknown>, projection: Projection): SchemaDraft {
  const flat = flattenNode(inputSchema, [inputSchema], projection);
  const merged = mergeRootUnion(flat, projection);
  const shown = projectFlat(toObject(merged.node), { depth: 0, stack: merged.stack }, projection);
  const kept: SchemaDraft = { type: "object" };
  for (const keyword of ROOT_KEYWORDS) if (shown[keyword] !== undefined) kept[keyword] = shown[keyword];
  kept.properties ??= {};
  if (typeof kept.description === "string") kept.description = shortenToSentence(kept.description, 1_024);
  return kept;
}

/** The root is an object, whatever its own type. */
function toObject(root: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isPlain = root.type === "object" && !("enum" in root || "const" in root || "nullable" in root);
  if (isPlain) return root;
  const { enum: _, const: __, nullable: ___, ...rest } = root;
  return { ...rest, type: "object" };
}

interface TextLimits {
  readonly maxText: number;
  /** Most values of a list that are shown; a longer list is described in words. */
  readonly maxValues: number;
}

const MAX_IN_WORDS = 5;

/** A copy of a projected schema with shorter descriptions and lists of values, and without examples. */
function trimTexts(schema: JsonSchema, limits: TextLimits): SchemaDraft {
  const { examples: _, ...copy } = mapParts(schema, (part) => trimTexts(part, limits));
  if (typeof copy.description === "string") copy.description = shortenToSentence(copy.description, limits.maxText);
  if (Array.isArray(copy.enum) && copy.enum.length > limits.maxValues) {
    listInWords(copy.enum, copy, MAX_IN_WORDS);
    delete copy.enum;
  }
  return copy;
}

/** A copy of a projected schema with each schema directly in it replaced. */
function mapParts(schema: JsonSchema, change: (part: JsonSchema) => JsonSchema): SchemaDraft {
  const copy: SchemaDraft = { ...schema };
  const changeAny = (part: unknown) => (isRecord(part) ? change(part) : part);
  for (const keyword of ["items", "additionalProperties"]) {
    if (copy[keyword] !== undefined) copy[keyword] = changeAny(copy[keyword]);
  }
  if (Array.isArray(schema.anyOf)) copy.anyOf = schema.anyOf.map(changeAny);
  if (!isRecord(schema.properties)) return copy;
  const properties: SchemaDraft = {};
  for (const key of Object.keys(schema.properties)) setOwn(properties, key, changeAny(schema.properties[key]));
  return { ...copy, properties };
}
