import { throwIfAborted, toFailure } from "../ask/abort.ts";
import type { ToolCatalog } from "../catalog/catalog.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { explainLimit } from "../catalog/limit-catalog.ts";
import { cleanText, createOutcome, type ToolOutcome } from "../outcome.ts";
import { describeSvcError } from "./outcome.ts";
import { type CallContext, proceed, type Step, stop } from "./plan.ts";

/** No tool has a longer name, and every word of it would be searched for. */
const MAX_NAME = 256;

/**
 * Step 1. Finds the tool by its full name, with its description. An unknown name is answered with up to three close
 * names, which are never run automatically. An unnamed list entry is a truncation notice and not callable.
 */
export async function resolve(
  context: Pick<CallContext, "call" | "signal" | "catalog" | "pins" | "emit">,
): Promise<Step<CatalogEntry>> {
  const { catalog, signal } = context;
  const name: unknown = context.call.toolName;
  if (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME) {
    const message = "There is no tool without a name: such an entry only says that a list was cut.";
    const hint = "Call a tool by its full name, or search for one with svc_search_tools.";
    return stop(createOutcome("failed", "", { code: "tool_not_found", message, hint, retryable: false }));
  }
  try {
    const entry = await catalog.find(name);
    throwIfAborted(signal);
    if (entry === undefined) {
      if (catalog.size === 0) await findLikely(context, name);
      return stop(unknownTool(catalog, name));
    }
    const change = context.pins.judge(entry);
    if (change !== undefined) context.emit({ type: "tool_not_pinned", change });
    return proceed(entry);
  } catch (error) {
    return stop(createOutcome("failed", name, describeSvcError(toFailure(error, signal))));
  }
}

/**
 * Searches for the words of the name, because a session that never listed its tools knows no close names. If the search
 * fails, none are suggested.
 */
async function findLikely({ catalog, signal }: Pick<CallContext, "catalog" | "signal">, name: string): Promise<void> {
  const query = name.replaceAll(/[^a-zA-Z0-9]+/g, " ").trim();
  if (query === "") return;
  try {
    await catalog.search({ query, limit: 10 }, signal);
  } catch (error) {
    toFailure(error, signal);
  }
}

/** The outcome of a call to an unknown tool. */
export function unknownTool(catalog: ToolCatalog, name: string): ToolOutcome {
  const close = catalog.suggest(name);
  const search = name.startsWith("svc_")
    ? "Tools whose names begin with svc_ are called by themselves, not through svc_call_tool."
    : "Search for a tool with svc_search_tools; an app that is not connected shows no tools.";
  const details = close.map((entry) => `${entry.name} (${entry.effect}): ${cleanText(firstSentence(entry), 160)}`);
  return createOutcome("failed", cleanText(name, 80), {
    code: "tool_not_found",
    message: `There is no tool named "${cleanText(name, 80)}". Nothing was run.`,
    hint:
      (close.length === 0
        ? search
        : `Close names: ${close.map((entry) => entry.name).join(", ")}. Pick the one you mean; none was run.`) +
      explainLimit(catalog),
    ...(details.length === 0 ? {} : { details }),
    retryable: false,
  });
}

function firstSentence(entry: CatalogEntry): string {
  return entry.description.split(/(?<=[.!?])\s/)[0] ?? "";
}
