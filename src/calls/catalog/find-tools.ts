import type { z } from "zod";
import type { SchemaProfile } from "../../schema/project/project-schema.ts";
import { throwIfAborted } from "../ask/abort.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import { cleanText } from "../safe-text.ts";
import {
  type describeSchema,
  MAX_HITS,
  type StaticCall,
  type StaticToolParts,
  type searchSchema,
} from "../static-tool-parts.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog-entry.ts";
import { explainLimit } from "./limit-catalog.ts";
import { projectEntry } from "./project-entry.ts";

/** `svc_search_tools`. */
export async function searchTools(
  parts: StaticToolParts,
  args: z.output<typeof searchSchema>,
  call: StaticCall,
): Promise<ToolOutcome> {
  const { integration, limit = 10, query } = args;
  const found = await parts.catalog.search(
    { query, limit, ...(integration === undefined ? {} : { integration }) },
    call.signal,
  );
  const tools = found.slice(0, limit).map((entry) => ({
    name: entry.name,
    integration: entry.integration,
    effect: entry.effect,
    asks_for_approval: mustAskFirst(entry),
    description: cleanText(entry.description, 200),
  }));
  const omitted = found.length - tools.length;
  const notice = omitted > 0 ? { not_shown: omitted } : {};
  return createOutcome("succeeded", "svc_search_tools", {
    result: { tools, ...notice },
    hint: adviseSearch(tools.length, limit, explainLimit(parts.catalog)),
  });
}

/** A search that fills its limit may have more to show: that is said, never left to be guessed. */
function adviseSearch(count: number, limit: number, limits: string): string | undefined {
  if (count === 0) return `Try other words; an app that is not connected shows no tools.${limits}`;
  if (count < limit) return undefined;
  const wider = limit < MAX_HITS ? `, or raise limit up to ${MAX_HITS}` : "";
  return `These are the best ${count}; there may be more. Name the app with integration, use other words${wider}.`;
}

/** `svc_describe_tool`. */
export async function describeTool(
  parts: StaticToolParts,
  args: z.output<typeof describeSchema>,
  call: StaticCall,
): Promise<ToolOutcome> {
  const entry = await parts.catalog.find(args.name);
  throwIfAborted(call.signal);
  if (entry === undefined) {
    const close = parts.catalog.suggest(args.name).map(({ name }) => name);
    return createOutcome("failed", "svc_describe_tool", {
      code: "tool_not_found",
      message: `There is no tool named "${cleanText(args.name, 80)}".`,
      hint:
        (close.length === 0 ? "Search with svc_search_tools." : `Close names: ${close.join(", ")}.`) +
        explainLimit(parts.catalog),
      retryable: false,
    });
  }
  return createOutcome("succeeded", "svc_describe_tool", await parts.results.cap(showEntry(entry, parts.profile)));
}

function showEntry(entry: CatalogEntry, profile: SchemaProfile) {
  const isKnown = entry.schemaHash !== undefined && entry.inputSchema !== null;
  return {
    name: entry.name,
    integration: entry.integration,
    effect: entry.effect,
    asks_for_approval: mustAskFirst(entry),
    description: cleanText(entry.description, 4_000),
    accounts: entry.connections,
    arguments: isKnown ? projectEntry(entry, profile).schema : "unknown: the service gives no schema for this tool",
  };
}
