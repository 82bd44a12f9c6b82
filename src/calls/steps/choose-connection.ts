import { redactHint } from "../../media/send/upload-hint.ts";
import { isControlFlow, openAnswerWindow, withAbort } from "../ask/abort.ts";

import { type CatalogEntry, mustAskFirst } from "../catalog/catalog-entry.ts";
import { type ConnectionChoice, createOutcome } from "../outcome.ts";
import { type ConnectionChooser, type Pipeline, proceed, type Step, stop, type ToolCall } from "../pipeline.ts";
import { cleanLines, cleanText } from "../safe-text.ts";
import type { ConnectionMemory } from "./connection-memory.ts";
import type { Failure } from "./judge-reply.ts";

const QUESTION_MS = 10 * 60 * 1_000;
/** Nobody has more accounts of one app, and a model reads the whole list. */
const MOST_CHOICES = 50;
const LONGEST_ID = 200;

/** The account of a call; undefined leaves it to the service. */
export interface FoundConnection {
  readonly id: string | undefined;
  /** The accounts as they were looked at. */
  readonly choices: readonly ConnectionChoice[];
}

/**
 * Step 5. The account the caller named, or one a human chose before. A call that a human will approve gets the default
 * account's id, so that what was shown is what is used even when the default changes in between.
 */
export async function findConnection(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
): Promise<Step<FoundConnection>> {
  const { connections } = entry;
  const wanted =
    findGivenConnection(call, entry) ??
    (await getMemory(pipeline, call).find(entry.integration)) ??
    pipeline.chosen.get(entry.integration);
  if (wanted !== undefined && wanted !== "") return proceed({ id: wanted, choices: connections });
  const isAsked = isAmbiguous(connections) && getChooser(pipeline, call) !== undefined;
  // A human is asked about the accounts there are now, not about those of the last look.
  const refreshed = isAsked ? await pipeline.catalog.refresh(entry.name).catch(() => undefined) : undefined;
  const choices = refreshed?.entry?.connections ?? connections;
  if (!isAsked || !isAmbiguous(choices)) return proceed({ id: findOnly(entry, choices)?.id, choices });
  const asked = await askForConnection(pipeline, call, entry, choices);
  return asked.ok ? proceed({ id: asked.value, choices }) : asked;
}

/** An id that the caller named and the service does not take is another mistake than naming none. */
function explainQuestion(call: ToolCall, entry: CatalogEntry, failure: Pick<Failure, "message"> | undefined): string {
  const given = findGivenConnection(call, entry);
  const app = cleanText(entry.integration, 60);
  if (failure === undefined || given === undefined) return `Several ${app} accounts are connected. Nothing was run.`;
  const said = cleanText(redactHint(failure.message), 300);
  return `The account "${cleanText(given, 80)}" cannot be used for ${app}: ${said.replace(/\.?$/, ".")} Nothing was run.`;
}

/** The service's own words on how to go on, when the accounts could not be read from its answer. */
function readHint(failure: Pick<Failure, "hint"> | undefined): string | undefined {
  return failure?.hint === undefined ? undefined : cleanText(redactHint(failure.hint));
}

function isAmbiguous(choices: readonly ConnectionChoice[]): boolean {
  return choices.length > 1 && !choices.some((choice) => choice.isDefault);
}

/** The account the service would use, for a call that a human sees before. */
function findOnly(entry: CatalogEntry, choices: readonly ConnectionChoice[]): ConnectionChoice | undefined {
  if (!mustAskFirst(entry)) return undefined;
  return choices.find((choice) => choice.isDefault) ?? (choices.length === 1 ? choices[0] : undefined);
}

/** The account the caller or its host named for this call. */
export function findGivenConnection(
  call: Pick<ToolCall, "connectionId" | "connections">,
  entry: Pick<CatalogEntry, "integration">,
): string | undefined {
  if (call.connectionId !== undefined && call.connectionId !== "") return call.connectionId;
  const { connections = {} } = call;
  return Object.hasOwn(connections, entry.integration) ? connections[entry.integration] : undefined;
}

/** Forgets an account that cannot be used any more. */
export async function forgetConnection(pipeline: Pipeline, call: ToolCall, integration: string): Promise<void> {
  pipeline.chosen.delete(integration);
  await getMemory(pipeline, call).forget(integration);
}

function getChooser(pipeline: Pipeline, call: ToolCall): ConnectionChooser | undefined {
  return call.chooseConnection ?? pipeline.chooseConnection;
}

function getMemory(pipeline: Pipeline, call: ToolCall): ConnectionMemory {
  return call.memory ?? pipeline.memory;
}

/** Lets the human choose among `choices`; without an answer the outcome lists them by label. */
export async function askForConnection(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  choices: readonly ConnectionChoice[],
  failure?: Pick<Failure, "code" | "message" | "hint" | "details">,
): Promise<Step<string>> {
  const usable = choices.filter(({ id }) => id.length <= LONGEST_ID).slice(0, MOST_CHOICES);
  const clean = usable.map((choice) => ({ ...choice, label: cleanText(choice.label, 120) }));
  const details = cleanLines(failure?.details ?? [], redactHint);
  const unanswered = createOutcome("needs_connection", entry.name, {
    code: "ambiguous_connection",
    message: explainQuestion(call, entry, failure),
    hint:
      readHint(failure) ?? "Ask the user which account to use, then call svc_call_tool with its id as connectionId.",
    details: details.length === 0 || clean.length > 0 ? undefined : details,
    choices: clean,
    retryable: false,
  });
  const choose = getChooser(pipeline, call);
  if (choose === undefined || clean.length === 0) return stop(unanswered);
  const question = { toolName: entry.name, integration: entry.integration, choices: clean };
  const { signal, expiry, close } = openAnswerWindow(QUESTION_MS, call.signal);
  const giveUp = (error: unknown) => {
    if (isControlFlow(error) || !expiry.aborted) throw error;
    return undefined;
  };
  // Given up when the time is over or the caller gave up, also when the chooser does not listen.
  const answer = await withAbort(choose(question, { signal }), signal).catch(giveUp).finally(close);
  const wanted = typeof answer === "string" ? answer : answer?.id;
  const chosen = clean.find((choice) => choice.id === wanted);
  if (chosen === undefined) return stop(unanswered);
  if (typeof answer === "string") pipeline.chosen.set(entry.integration, chosen.id);
  else if (answer?.remember === true) await getMemory(pipeline, call).remember(entry.integration, chosen.id);
  return proceed(chosen.id);
}
