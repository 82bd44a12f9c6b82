import { isDeepStrictEqual } from "node:util";
import { type ZodType, z } from "zod";
import { sha256Hex } from "../base/hash.ts";
import { cloneJson, isRecord } from "../base/json.ts";
import { cutText } from "../base/text.ts";
import { SvcError } from "../errors.ts";
import { type ProjectedSchema, projectToolSchema, type SchemaProfile } from "../schema/project/project-schema.ts";
import { toPlainText } from "../wire/plain-text.ts";
import type { JsonSchema } from "../wire/tool.ts";
import type { Effect } from "./ask/request.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog/catalog-entry.ts";

const DESCRIPTION_MAX = 1_024;

/** A tool in the form offered to a model; runtimes only translate its shape. */
export interface ToolDefinition {
  /** Legal for every provider: at most 64 of `[A-Za-z0-9_-]`. */
  readonly name: string;
  readonly toolName: string;
  readonly integration: string;
  readonly effect: Effect;
  /** At most 1,024 characters. */
  readonly description: string;
  /** The service's schema, projected for the model. Computed on first read. */
  readonly schema: JsonSchema;
}

/**
 * Builds the definitions of `entries`, all with distinct legal names.
 * Throws SvcError `unsupported` when two names would collide; `reserved` names count too.
 */
export function buildTools(
  entries: readonly CatalogEntry[],
  options: { readonly profile: SchemaProfile; readonly reserved: readonly string[] },
): ToolDefinition[] {
  const taken = entries.find((entry) => options.reserved.includes(entry.name));
  if (taken !== undefined) {
    throw new SvcError("unsupported", `The service has a tool "${taken.name}", which is the name of one of our own.`, {
      hint: "Leave its app out, or rename it in the service.",
    });
  }
  const names = createNameMap([...options.reserved, ...entries.map((entry) => entry.name)]);
  return entries.map((entry) => ({
    name: names.toModel(entry.name) ?? entry.name,
    toolName: entry.name,
    integration: entry.integration,
    effect: entry.effect,
    description: describeEntry(entry),
    get schema() {
      return projectEntry(entry, options.profile).schema;
    },
  }));
}

function describeEntry(entry: CatalogEntry): string {
  const additions = [
    ...(mustAskFirst(entry) ? ["Asks the user for approval before it runs."] : []),
    ...(entry.schemaHash === undefined ? ["Call svc_describe_tool first to learn its arguments."] : []),
  ];
  const addition = additions.join(" ");
  const text = toPlainText(entry.description.trim() || entry.title, { keepLines: true });
  const room = DESCRIPTION_MAX - addition.length - 1;
  const shown = text.length <= room ? text : cutAtSentence(text, room);
  return addition === "" ? shown : `${shown} ${addition}`;
}

const MORE = " (cut; svc_describe_tool shows all)";

function cutAtSentence(text: string, max: number): string {
  const part = cutText(text, max - MORE.length);
  const end = Math.max(part.lastIndexOf(". "), part.lastIndexOf(".\n"));
  return (end > part.length / 2 ? part.slice(0, end + 1) : part) + MORE;
}

/** Shown while a tool's schema is not known: any object is accepted and the service decides. */
const OPEN_SCHEMA: JsonSchema = { type: "object", properties: {}, additionalProperties: true };

const projections = new WeakMap<object, Partial<Record<SchemaProfile, ProjectedSchema>>>();

/** The projection of the tool's schema for a model, with the renamed keys; computed once per schema. */
export function projectEntry(entry: Pick<CatalogEntry, "inputSchema">, profile: SchemaProfile): ProjectedSchema {
  const schema = entry.inputSchema;
  if (schema === null) return { schema: OPEN_SCHEMA, renamed: [], notes: [] };
  const known = projections.get(schema) ?? {};
  const projection = known[profile] ?? project(schema, profile);
  projections.set(schema, { ...known, [profile]: projection });
  return projection;
}

function project(schema: JsonSchema, profile: SchemaProfile): ProjectedSchema {
  const projected = projectToolSchema(schema, { profile });
  return { ...projected, schema: cleanSchema(projected.schema) };
}

/**
 * Wraps a projected schema in a zod type that accepts anything and, asked for its JSON Schema, answers exactly this
 * one. LangChain then sends our schema as it is and leaves the checking of arguments to us.
 *
 * Call nothing on the result (`.meta`, `.describe`, ...): a chained copy loses the schema. LangChain caches by object,
 * so a changed schema needs a new carrier.
 */
export function createSchemaCarrier(schema: JsonSchema): ZodType {
  const carrier = z.any();
  // The hook zod itself reads before its own conversion; it works across zod copies, unlike metadata registries.
  // An undefined `$schema` keeps zod from adding its own.
  carrier._zod.toJSONSchema = () => ({ ...(cloneJson(schema) as JsonSchema), $schema: undefined });
  return carrier;
}

/** A projection with the parts a converter could lose. */
const SAMPLE: JsonSchema = {
  type: "object",
  properties: {
    to: { type: "array", items: { type: "string", format: "email" }, minItems: 1, examples: [["a@example.com"]] },
    note: { type: ["string", "null"], default: "", description: "Optional note" },
  },
  required: ["to"],
};

/**
 * Start-up check: does the runtime's converter (`toJsonSchema` of `@langchain/core/utils/json_schema`) return a
 * carrier's schema unchanged? When it does not, hand the runtime the projected JSON Schema itself.
 * Never throws.
 */
export function isCarrierExact(toJsonSchema: (schema: ZodType) => unknown): boolean {
  try {
    return isDeepStrictEqual(toJsonSchema(createSchemaCarrier(SAMPLE)), SAMPLE);
  } catch {
    return false;
  }
}

/** How a runtime turns a zod type into the JSON Schema its models get. */
type SchemaConverter = (schema: ZodType) => unknown;

const verdicts = new WeakMap<SchemaConverter, boolean>();

/**
 * A schema in the form a runtime that expects zod accepts: a carrier that accepts every input, so that only the
 * pipeline checks it, or the JSON Schema itself when the runtime's converter would change it.
 */
export function carrySchema(schema: JsonSchema, toJsonSchema: SchemaConverter): ZodType | JsonSchema {
  const isExact = verdicts.get(toJsonSchema) ?? isCarrierExact(toJsonSchema);
  verdicts.set(toJsonSchema, isExact);
  return isExact ? createSchemaCarrier(schema) : schema;
}

/**
 * Removes control characters, direction marks and invisible letters from the texts of a projected schema: descriptions
 * show them as codes, defaults and examples that contain any are dropped. Names are already legal. Enum values stay
 * unchanged, because the model must be able to return them.
 */
function cleanSchema(schema: JsonSchema): JsonSchema {
  const entries = Object.entries(schema).filter(([keyword, value]) => !SAMPLES.has(keyword) || isPlain(value));
  const cleaned = entries.map(([keyword, value]) => [keyword, cleanValue(keyword, value)] as const);
  return Object.fromEntries(cleaned);
}

const TEXTS: ReadonlySet<string> = new Set(["title", "description"]);
const SAMPLES: ReadonlySet<string> = new Set(["default", "examples"]);
const CHOICES: ReadonlySet<string> = new Set(["enum", "const"]);

function cleanValue(keyword: string, value: unknown): unknown {
  if (TEXTS.has(keyword) && typeof value === "string") return toPlainText(value, { keepLines: true });
  if (CHOICES.has(keyword)) return value;
  if (Array.isArray(value)) return value.map((branch: unknown) => (isRecord(branch) ? cleanSchema(branch) : branch));
  if (!isRecord(value)) return value;
  if (keyword !== "properties") return cleanSchema(value);
  return Object.fromEntries(
    Object.entries(value).map(([name, node]) => [name, isRecord(node) ? cleanSchema(node) : node]),
  );
}

function isPlain(value: unknown): boolean {
  if (typeof value === "string") return toPlainText(value, { keepLines: true }) === value;
  if (typeof value !== "object" || value === null) return true;
  return Object.entries(value).every(([name, part]) => isPlain(name) && isPlain(part));
}

const LIMIT = 64;
const HASH_LENGTH = 7;

/**
 * A name every model provider accepts: `[A-Za-z][A-Za-z0-9_-]*`, at most 64 characters.
 * Other characters become `_`; a name that does not start with a letter gets `t_` in front; a longer one is cut and
 * ends in 7 hex digits of its SHA-256, so that two long names stay apart. A legal name is returned unchanged.
 */
export function toModelName(name: string): string {
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const legal = /^[A-Za-z]/.test(clean) ? clean : `t_${clean}`;
  if (legal.length <= LIMIT) return legal;
  const hash = sha256Hex(name).slice(0, HASH_LENGTH);
  return `${legal.slice(0, LIMIT - HASH_LENGTH - 1)}_${hash}`;
}

export interface NameMap {
  /** The model's name of a service tool, or undefined when the tool is not in the map. */
  toModel(name: string): string | undefined;
  toService(modelName: string): string | undefined;
}

/**
 * Builds the map for one set of tools.
 *
 * @throws SvcError `unsupported` when two different tools would get the same model name: calling the wrong one is
 * worse than offering neither.
 */
export function createNameMap(names: Iterable<string>): NameMap {
  const toModel = new Map<string, string>();
  const toService = new Map<string, string>();
  for (const name of names) {
    const modelName = toModelName(name);
    const holder = toService.get(modelName);
    if (holder !== undefined && holder !== name) {
      throw new SvcError("unsupported", `Tools "${holder}" and "${name}" would both be shown as "${modelName}".`, {
        hint: "Offer only one of them, or rename one in the service.",
      });
    }
    toModel.set(name, modelName);
    toService.set(modelName, name);
  }
  return { toModel: (name) => toModel.get(name), toService: (modelName) => toService.get(modelName) };
}
