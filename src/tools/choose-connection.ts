import { withAbort } from "./abort.ts";
import { type CatalogEntry, mustAskFirst } from "./catalog-entry.ts";
import { type ConnectionChoice, createOutcome } from "./outcome.ts";
import { type Pipeline, proceed, type Step, stop, type ToolCall } from "./pipeline.ts";
import { cleanText } from "./safe-text.ts";

const QUESTION_MS = 10 * 60 * 1_000;

/**
 * Step 5. The account the caller named, or one a human chose before. A call that a human will approve gets the default
 * account's id, so that what was shown is what is used even when the default changes in between.
 */
export async function findConnection(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
): Promise<Step<string | undefined>> {
  const wanted = call.connectionId ?? pipeline.chosen.get(entry.integration);
  if (wanted !== undefined && wanted !== "") return proceed(wanted);
  const choices = entry.connections;
  const only = choices.find((choice) => choice.isDefault) ?? (choices.length === 1 ? choices[0] : undefined);
  if (only !== undefined) return proceed(mustAskFirst(entry) ? only.id : undefined);
  if (choices.length < 2 || pipeline.chooseConnection === undefined) return proceed(undefined);
  return askForConnection(pipeline, call, entry, choices);
}

/** Lets the human choose among `choices`; without an answer the outcome lists them by label. */
export async function askForConnection(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  choices: readonly ConnectionChoice[],
): Promise<Step<string>> {
  const clean = choices.map((choice) => ({ ...choice, label: cleanText(choice.label, 120) }));
  const unanswered = createOutcome("needs_connection", entry.name, {
    code: "ambiguous_connection",
    message: `Several ${cleanText(entry.integration, 60)} accounts are connected. Nothing was run.`,
    hint: "Ask the user which account to use, then call svc_call_tool with its id as connectionId.",
    choices: clean,
    retryable: false,
  });
  if (pipeline.chooseConnection === undefined || clean.length === 0) return stop(unanswered);
  const limits = [AbortSignal.timeout(QUESTION_MS), ...(call.signal === undefined ? [] : [call.signal])];
  const question = { toolName: entry.name, integration: entry.integration, choices: clean };
  const asked = pipeline.chooseConnection(question, { signal: AbortSignal.any(limits) });
  const answer = await withAbort(asked, call.signal);
  const chosen = clean.find((choice) => choice.id === answer);
  if (chosen === undefined) return stop(unanswered);
  pipeline.chosen.set(entry.integration, chosen.id);
  return proceed(chosen.id);
}
