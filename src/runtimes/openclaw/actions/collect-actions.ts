import { buildTools } from "../../../calls/build.ts";
import type { ToolCatalog } from "../../../calls/catalog/catalog.ts";
import { type CatalogEntry, mustAskFirst } from "../../../calls/catalog/catalog-entry.ts";
import { cleanText } from "../../../calls/safe-text.ts";
import { isSvcError } from "../../../errors.ts";
import type { ActionRecord } from "./actions-file.ts";
import { nameActions } from "./name-actions.ts";
import type { LeftOutTool } from "./plan-sync.ts";

const PARALLEL = 8;

/** The described tools, and why the others could not be described, both by full name. */
export interface Descriptions {
  readonly entries: ReadonlyMap<string, CatalogEntry>;
  readonly failures: ReadonlyMap<string, string>;
}

/**
 * Describes every named tool again, eight at a time; one failure does not stop the others.
 *
 * @throws SvcError `unauthorized` for a key the service does not accept, and an AbortError when the signal fires
 */
export async function describeActions(
  catalog: ToolCatalog,
  toolNames: readonly string[],
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<Descriptions> {
  const entries = new Map<string, CatalogEntry>();
  const failures = new Map<string, string>();
  const queue = [...toolNames];
  const work = async () => {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      options.signal?.throwIfAborted();
      try {
        const { entry } = await catalog.refresh(name);
        if (entry?.schemaHash === undefined) failures.set(name, "The service lists it and does not describe it.");
        else entries.set(name, entry);
      } catch (error) {
        if (!isSvcError(error) || error.code === "unauthorized" || error.code === "aborted") throw error;
        failures.set(name, `It could not be described: ${cleanText(error.message, 160)}`);
      }
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, work));
  return { entries, failures };
}

/** Action records, and the tools that cannot be one. */
export interface Collection {
  readonly records: ActionRecord[];
  readonly leftOut: LeftOutTool[];
}

/** Makes action tools of described tools: legal, free names, and never one whose arguments are not known. */
export function collectActions(entries: readonly CatalogEntry[]): Collection {
  const leftOut: LeftOutTool[] = [];
  const known = entries.filter((entry) => {
    if (hasKnownArguments(entry)) return true;
    leftOut.push(leaveOut(entry, "The service gives no schema of its arguments."));
    return false;
  });
  const { names, collisions } = nameActions(known.map(({ name }) => name));
  const byName = new Map(known.map((entry) => [entry.name, entry]));
  for (const { toolName, name } of collisions) {
    const entry = byName.get(toolName);
    if (entry !== undefined) leftOut.push(leaveOut(entry, `It and another tool would both be called ${name}.`));
  }
  const named = known.filter(({ name }) => names.has(name));
  const definitions = buildTools(named, { profile: "full", reserved: [] });
  const records = definitions.map((definition, index) => {
    const entry = named[index] as CatalogEntry;
    return createRecord(entry, names.get(entry.name) as string, definition);
  });
  return { records, leftOut };
}

function createRecord(
  entry: CatalogEntry,
  name: string,
  { description, schema }: { description: string; schema: Record<string, unknown> },
): ActionRecord {
  const { name: toolName, integration, effect } = entry;
  return {
    name,
    toolName,
    integration,
    effect,
    asksFirst: mustAskFirst(entry),
    description,
    parameters: takesNothing(entry) ? { type: "object", properties: {} } : schema,
    schemaHash: entry.schemaHash ?? "",
  };
}

/** A description that names its properties is complete, also when there are none; `{}` and null say nothing. */
function hasKnownArguments({ inputSchema }: CatalogEntry): boolean {
  if (inputSchema === null) return false;
  return Object.keys(inputSchema).some((keyword) => !SAYS_NOTHING.has(keyword));
}

const SAYS_NOTHING: ReadonlySet<string> = new Set(["type", "title", "description", "$schema", "additionalProperties"]);

function takesNothing({ inputSchema }: CatalogEntry): boolean {
  const keywords = Object.entries(inputSchema ?? {}).filter(([keyword]) => !SAYS_NOTHING.has(keyword));
  return keywords.every(([, value]) => typeof value === "object" && value !== null && Object.keys(value).length === 0);
}

function leaveOut({ name, integration }: CatalogEntry, reason: string): LeftOutTool {
  return { toolName: name, integration, count: 1, reason };
}
