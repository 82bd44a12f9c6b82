import { redactHint } from "../../media/send/redact-hint.ts";
import { isControlFlow, openAnswerWindow, withAbort } from "../ask/abort.ts";
import { type CatalogEntry, mustAskFirst } from "../catalog/catalog-entry.ts";
import { type ConnectionChoice, cleanLines, cleanText, createOutcome } from "../outcome.ts";
import type { ToolCall } from "../pipeline.ts";
import type { Failure } from "./answer/read-reply.ts";
import { type CallContext, type CallPlan, proceed, type Step, stop } from "./plan.ts";

const CHOOSE_HINT = "Ask the user which account to use, then call svc_call_tool with its id as connectionId.";
const QUESTION_MS = 10 * 60 * 1_000;
/** More than the accounts anyone has of one app; a model reads the whole list. */
const MOST_CHOICES = 50;
const LONGEST_ID = 200;

/**
 * Step 5. Uses the account that the caller named or a human chose before. A call that needs an approval gets the
 * default account's id, so that the shown account is used even if the default changes in between.
 */
export async function choose(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  const { entry } = plan;
  const wanted =
    findGivenConnection(context.call, entry) ??
    (await context.memory.find(entry.integration)) ??
    context.chosen.get(entry.integration);
  if (wanted !== undefined && wanted !== "") return proceed({ ...plan, connectionId: wanted });
  const isAsked = isAmbiguous(entry.connections) && context.chooseConnection !== undefined;
  // Refreshes the accounts before a human is asked about them.
  const refreshed = isAsked ? await context.catalog.refresh(entry.name).catch(() => undefined) : undefined;
  const connections = refreshed?.entry?.connections ?? entry.connections;
  const looked = { ...plan, entry: { ...entry, connections } };
  if (!isAsked || !isAmbiguous(connections)) {
    return proceed({ ...looked, connectionId: findOnly(entry, connections)?.id });
  }
  const asked = await askForConnection(context, entry, connections);
  return asked.ok ? proceed({ ...looked, connectionId: asked.value }) : asked;
}

/** Distinguishes an id that the service does not accept from a missing one. */
function explainQuestion(
  call: CallContext["call"],
  entry: CatalogEntry,
  failure: Pick<Failure, "message"> | undefined,
): string {
  const given = findGivenConnection(call, entry);
  const app = cleanText(entry.integration, 60);
  if (failure === undefined || given === undefined) return `Several ${app} accounts are connected. Nothing was run.`;
  const said = cleanText(redactHint(failure.message), 300);
  return `The account "${cleanText(given, 80)}" cannot be used for ${app}: ${said.replace(/\.?$/, ".")} Nothing was run.`;
}

function isAmbiguous(choices: readonly ConnectionChoice[]): boolean {
  return choices.length > 1 && !choices.some((choice) => choice.isDefault);
}

/** The account the service would use, for a call that needs an approval. */
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

/** Forgets an account that can no longer be used. */
export async function forgetConnection(
  { chosen, memory }: Pick<CallContext, "chosen" | "memory">,
  integration: string,
): Promise<void> {
  chosen.delete(integration);
  await memory.forget(integration);
}

/** Lets the human choose among `choices`; without an answer, the outcome lists their labels. */
export async function askForConnection(
  context: Pick<CallContext, "call" | "signal" | "chooseConnection" | "chosen" | "memory" | "turn">,
  entry: CatalogEntry,
  choices: readonly ConnectionChoice[],
  failure?: Pick<Failure, "code" | "message" | "hint" | "details">,
): Promise<Step<string>> {
  const usable = choices.filter(({ id }) => id.length <= LONGEST_ID).slice(0, MOST_CHOICES);
  const clean = usable.map((choice) => ({ ...choice, label: cleanText(choice.label, 120) }));
  const details = cleanLines(failure?.details ?? [], redactHint);
  const unanswered = createOutcome("needs_connection", entry.name, {
    code: "ambiguous_connection",
    message: explainQuestion(context.call, entry, failure),
    hint: failure?.hint === undefined ? CHOOSE_HINT : cleanText(redactHint(failure.hint)),
    details: details.length === 0 || clean.length > 0 ? undefined : details,
    choices: clean,
    retryable: false,
  });
  const { chooseConnection } = context;
  if (chooseConnection === undefined || clean.length === 0) return stop(unanswered);
  const question = { toolName: entry.name, integration: entry.integration, choices: clean };
  const { signal, expiry, close } = openAnswerWindow(QUESTION_MS, context.signal);
  const giveUp = (error: unknown) => {
    if (isControlFlow(error) || !expiry.aborted) throw error;
    return undefined;
  };
  // Ends on timeout or abort, even if the chooser ignores the signal.
  const put = () => withAbort(chooseConnection(question, { signal }), signal).catch(giveUp).finally(close);
  const answer = await context.turn.stepAside(put, Boolean(context.call.keepsAnswers));
  const wanted = typeof answer === "string" ? answer : answer?.id;
  const chosen = clean.find((choice) => choice.id === wanted);
  if (chosen === undefined) return stop(unanswered);
  if (typeof answer === "string") context.chosen.set(entry.integration, chosen.id);
  else if (answer?.remember === true) await context.memory.remember(entry.integration, chosen.id);
  return proceed(chosen.id);
}
