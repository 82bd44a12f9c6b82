import { cutText } from "../base/text.ts";
import { SvcError } from "../errors.ts";
import { createNameMap, toModelName } from "../schema/project/model-names.ts";
import type { SchemaProfile } from "../schema/project/project-schema.ts";
import { toPlainText } from "../wire/plain-text.ts";
import type { JsonSchema } from "../wire/tool.ts";
import type { Effect } from "./ask/request.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog/catalog-entry.ts";
import { projectEntry } from "./catalog/project-entry.ts";

export { toModelName };

const DESCRIPTION_MAX = 1_024;

/** A tool as a model is offered it; runtimes only translate its shape. */
export interface ToolDefinition {
  /** Legal for every provider: at most 64 of `[A-Za-z0-9_-]`. */
  readonly name: string;
  /** Full name on the service. */
  readonly toolName: string;
  readonly integration: string;
  readonly effect: Effect;
  /** At most 1,024 characters. */
  readonly description: string;
  /** The service's schema as the model may see it; worked out when it is first read. */
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

/** What the model reads about a tool: the service's words, cut at a sentence end, and what to expect of us. */
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
