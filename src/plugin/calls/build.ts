import { sha256Hex } from "../../shared/base/hash.ts";
import { cutText } from "../../shared/base/text.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { JsonSchema } from "../../shared/wire/tool.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import type { Effect } from "./ask/request.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog/catalog-entry.ts";
import { projectEntry } from "./projection.ts";

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
  const reserved = new Set(options.reserved);
  const taken = entries.find((entry) => reserved.has(entry.name));
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
  const asks = mustAskFirst(entry) ? "Asks the user for approval before it runs." : "";
  const learn = entry.schemaHash === undefined ? "Call svc_describe_tool first to learn its arguments." : "";
  const addition = asks === "" || learn === "" ? asks + learn : `${asks} ${learn}`;
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

const LIMIT = 64;
const LEGAL = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const HASH_LENGTH = 7;

/**
 * A name every model provider accepts: `[A-Za-z][A-Za-z0-9_-]*`, at most 64 characters.
 * Other characters become `_`; a name that does not start with a letter gets `t_` in front; a longer one is cut and
 * ends in 7 hex digits of its SHA-256, so that two long names stay apart. A legal name is returned unchanged.
 */
export function toModelName(name: string): string {
  if (LEGAL.test(name)) return name;
  const clean = name.replace(/[^A-Za-z0-9_-]/g, "_");
  const legal = /^[A-Za-z]/.test(clean) ? clean : `t_${clean}`;
  if (legal.length <= LIMIT) return legal;
  const hash = sha256Hex(name).slice(0, HASH_LENGTH);
  return `${legal.slice(0, LIMIT - HASH_LENGTH - 1)}_${hash}`;
}

/** Names of one set of tools: the service's, and those that a model is shown. */
export interface NameMap {
  /** The model's name of a service tool, or undefined when the tool is not in the map. */
  toModel(name: string): string | undefined;
  /** The service's name of a tool, or undefined when no tool of the map is shown under this one. */
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
