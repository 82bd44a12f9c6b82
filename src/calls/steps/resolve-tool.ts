import { isSvcError } from "../../errors.ts";
import { throwIfAborted } from "../ask/abort.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { explainLimit } from "../catalog/limit-catalog.ts";
import { createOutcome } from "../outcome.ts";
import { type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanText } from "../safe-text.ts";
import { describeSvcError } from "./describe-error.ts";

const MAX_NAME = 256;

/**
 * Step 1. Finds the tool by its full name, described. A name that is not known is answered with up to three close
 * ones, which are never run by themselves. An unnamed list entry is the notice of a truncated list and not callable.
 */
export async function resolveTool(pipeline: Pipeline, call: ToolCall): Promise<Step<CatalogEntry>> {
  const name: unknown = call.toolName;
  if (typeof name !== "string" || name.trim() === "" || name.length > MAX_NAME) {
    const message = "There is no tool without a name: such an entry only says that a list was cut.";
    const hint = "Call a tool by its full name, or search for one with svc_search_tools.";
    return stop(createOutcome("failed", "", { code: "tool_not_found", message, hint, retryable: false }));
  }
  try {
    const entry = await pipeline.catalog.find(name);
    throwIfAborted(call.signal);
    if (entry !== undefined) return proceed(entry);
    if (pipeline.catalog.size === 0) await findLikely(pipeline, call, name);
    return stop(unknownTool(pipeline, name));
  } catch (error) {
    throwIfAborted(call.signal);
    if (!isSvcError(error)) throw error;
    return stop(createOutcome("failed", name, describeSvcError(error)));
  }
}

/**
 * A session that never listed its tools knows no close names: the words of the name are searched for. Without an answer
 * there are none.
 */
async function findLikely({ catalog }: Pipeline, { signal }: ToolCall, name: string): Promise<void> {
  const query = name.replaceAll(/[^a-zA-Z0-9]+/g, " ").trim();
  if (query === "") return;
  try {
    await catalog.search({ query, limit: 10 }, signal);
  } catch (error) {
    throwIfAborted(signal);
    if (!isSvcError(error)) throw error;
  }
}

/** The outcome of a call of a tool that is not there. */
export function unknownTool(pipeline: Pipeline, name: string) {
  const close = pipeline.catalog.suggest(name);
  const details = close.map((entry) => `${entry.name} (${entry.effect}): ${cleanText(firstSentence(entry), 160)}`);
  return createOutcome("failed", cleanText(name, 80), {
    code: "tool_not_found",
    message: `There is no tool named "${cleanText(name, 80)}". Nothing was run.`,
    hint:
      (close.length === 0
        ? "Search for a tool with svc_search_tools; an app that is not connected shows no tools."
        : `Close names: ${close.map((entry) => entry.name).join(", ")}. Pick the one you mean; none was run.`) +
      explainLimit(pipeline.catalog),
    ...(details.length === 0 ? {} : { details }),
    retryable: false,
  });
}

function firstSentence(entry: CatalogEntry): string {
  return entry.description.split(/(?<=[.!?])\s/)[0] ?? "";
}
