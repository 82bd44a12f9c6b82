import type { SvcError } from "../../../shared/errors.ts";
import type { UndoCall } from "../../../shared/wire/execution.ts";
import { adviseOnCredential, KEY_HINT } from "../../client/failure.ts";
import { redactHint } from "../../media/send/redact-hint.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { ToolHead } from "../catalog/stored-tools.ts";
import {
  cleanLines,
  cleanText,
  createOutcome,
  limitAction,
  type OutcomeDetails,
  type ToolOutcome,
} from "../outcome.ts";
import { findConnectUrl, isSignInExpired, toConnectAction } from "./answer/await-connection.ts";
import { type Answered, type Failure, type Judgement, judgeReply } from "./answer/read-reply.ts";
import { type CallContext, type CallPlan, proceed, type Step, stop } from "./plan.ts";

/** The outcome of a failure without a remedy. The service's texts are cleaned and upload commands hidden. */
export function describeFailure(plan: CallPlan, failure: Failure, notes: readonly string[] = []): ToolOutcome {
  const details = cleanLines(failure.details, redactHint);
  const told: OutcomeDetails = {
    code: cleanText(failure.code, 80),
    message: cleanText(redactHint(failure.message)),
    hint: readHint(failure),
    details: details.length === 0 ? undefined : details,
    retryable: failure.retryable,
    retryAfterMs: failure.retryAfterMs,
    nextAction: failure.nextAction,
  };
  return createOutcome("failed", plan.entry.name, told, [...plan.notes, ...notes]);
}

/** The service refuses the key: further calls are useless until the device is paired again. */
function describeKeyProblem(plan: CallPlan, failure: Failure): ToolOutcome {
  const { retryAfterMs: _, nextAction: __, ...outcome } = describeFailure(plan, failure);
  return { ...outcome, code: "unauthorized", hint: KEY_HINT, retryable: false };
}

/** The app is not connected, or its sign-in expired: a human follows the link, then the same call is made again. */
async function describeMissingConnection(
  { client, signal }: Pick<CallContext, "client" | "signal">,
  plan: CallPlan,
  failure: Failure,
): Promise<ToolOutcome> {
  const isExpired = isSignInExpired(failure);
  const nextAction = toConnectAction(plan, failure);
  const connectUrl = await findConnectUrl(client, nextAction, signal);
  const outcome = describeFailure(plan, failure);
  const app = cleanText(plan.entry.integration, 60);
  const where = connectUrl === undefined ? "on the dashboard of the service" : "with the link";
  const hint = `Ask the user to ${isExpired ? "sign in again to" : "connect"} ${app} ${where}, then make the same call again.`;
  return {
    ...outcome,
    status: "needs_connection",
    hint: outcome.hint === undefined ? hint : `${hint} ${outcome.hint}`,
    retryable: false,
    nextAction,
    ...(connectUrl === undefined ? {} : { connectUrl }),
  };
}

/** The service's own advice is to confirm, which has been done. */
function describeRepeatedDemand(plan: CallPlan, failure: Failure): ToolOutcome {
  const { nextAction: _, ...outcome } = describeFailure(plan, failure);
  const message = `The service asks for a confirmation again although the user agreed. Nothing was run. It says: ${outcome.message}`;
  return { ...outcome, message, hint: "Tell the user; calling again will not help.", retryable: false };
}

const NO_BYTES_HINT =
  "The service could not take the file. Give a public https address of it instead, or tell the user.";

/** An upload command is hidden from the model, so that advice around it would lead nowhere. */
function readHint(failure: Failure): string | undefined {
  if (failure.code === "missing_file_bytes") return NO_BYTES_HINT;
  return failure.hint === undefined ? explainStatus(failure) : cleanText(redactHint(failure.hint));
}

function explainStatus(failure: Failure): string | undefined {
  if (failure.status === 402) return "The service's billing limit is reached; the user must settle this, not you.";
  if (failure.status === 403) return "The account lacks a permission; the user can reconnect the app and grant it.";
  if (failure.status === 422) return "The app needs to be set up by the user; calling again will not help.";
  if (failure.status === 429) return "Wait before calling again; the call was not repeated by itself.";
  return undefined;
}

/** The last step: ends an answered call. One without an answer goes on. */
export async function settle(context: CallContext, plan: CallPlan): Promise<Step<CallPlan>> {
  return plan.answered === undefined ? proceed(plan) : stop(await settleReply(context, plan, plan.answered));
}

/** Outcome of an answered call; `unknown` for a write whose end the answer leaves open. */
export async function settleReply(context: CallContext, plan: CallPlan, answered: Answered): Promise<ToolOutcome> {
  const judgement = judgeReply(answered);
  if (judgement.kind === "success") return describeSuccess(context, plan, judgement);
  const { failure } = judgement;
  if (failure.isOutcomeUnknown && plan.entry.effect !== "read") {
    return createUnknownOutcome(context, plan.entry, cleanText(failure.message, 300), plan.notes);
  }
  if (judgement.kind === "needs_connection") return describeMissingConnection(context, plan, failure);
  if (judgement.kind === "key") return describeKeyProblem(plan, failure);
  if (judgement.kind === "confirmation" && answered.confirmed) return describeRepeatedDemand(plan, failure);
  return describeFailure(plan, failure);
}

/** The outcome of a call that was sent and not answered; it names read tools that can show the effect. */
export function createUnknownOutcome(
  { catalog, own }: Pick<CallContext, "catalog" | "own">,
  { name, integration }: CatalogEntry,
  why: string,
  notes: readonly string[] = [],
): ToolOutcome {
  const isRead = (other: ToolHead) => other.integration === integration && other.effect === "read";
  const reads = catalog.heads
    .filter(isRead)
    .slice(0, 3)
    .map((other) => other.name);
  const tools = reads.length === 0 ? "a read tool of this app" : reads.join(", ");
  const told = {
    code: "outcome_unknown",
    message: `It is not known whether this call took effect. ${why} It will not be sent again by itself.`,
    hint: own?.howToCheck ?? `Check with ${tools} whether it happened before making the call again.`,
    retryable: false,
  };
  return createOutcome("unknown", name, told, notes);
}

/** True without an answer, or for a gateway's answer, which says nothing about the service. */
export function isLostAnswer(error: SvcError): boolean {
  if (error.code === "bad_response") return error.status === undefined || error.status < 400 || error.status >= 500;
  return error.code === "unreachable" || error.code === "timeout" || error.code === "aborted";
}

/** The outcome of a request that may have acted, and whose answer was lost. */
export function describeLostAnswer(context: CallContext, { entry, notes }: CallPlan, error: SvcError): ToolOutcome {
  const why = `The request left, and then: ${cleanText(error.message, 300)}`;
  return createUnknownOutcome(context, entry, why, notes);
}

/** The outcome of a request that was refused, or never sent. */
export function describeRefusal({ entry, notes }: CallPlan, error: SvcError): ToolOutcome {
  const details = describeSvcError(error);
  const nothing = error.sent === false ? " Nothing was sent." : "";
  return createOutcome("failed", entry.name, { ...details, message: `${details.message}${nothing}` }, notes);
}

/** A success stays a success even when its result cannot be stored here. */
async function describeSuccess(
  context: CallContext,
  plan: CallPlan,
  answer: Extract<Judgement, { kind: "success" }>,
): Promise<ToolOutcome> {
  const { result, notes } = await receive(context, answer.result);
  const undo = readUndo(answer.undo);
  const allNotes = [...plan.notes, ...notes];
  try {
    return createOutcome("succeeded", plan.entry.name, { ...(await context.results.cap(result)), undo }, allNotes);
  } catch {
    const note = "the result was too large to show and could not be stored on this machine";
    return createOutcome("succeeded", plan.entry.name, { undo }, [...allNotes, note]);
  }
}

/** Longest arguments of a call that takes another back, in characters of JSON: a model reads all of it. */
const MAX_UNDO = 500;

function readUndo(undo: UndoCall | undefined): ToolOutcome["undo"] {
  if (undo === undefined || JSON.stringify(undo).length > MAX_UNDO) return undefined;
  const { tool_name, input, connection_id, until } = undo;
  const call = { toolName: cleanText(tool_name, 200), arguments: input, until: cleanText(until, 40) };
  return connection_id === undefined ? call : { ...call, connectionId: connection_id };
}

/** If a receiver fails or is stopped, the result stays unchanged. */
async function receive({ receiveResult, signal }: CallContext, result: unknown) {
  try {
    return (await receiveResult?.(result, { signal })) ?? { result, notes: [] };
  } catch {
    return { result, notes: [] };
  }
}

/** A thrown failure as the details of an outcome. */
export function describeSvcError(error: SvcError): OutcomeDetails {
  const advice = adviseOnCredential(error);
  const hint = advice ?? error.hint;
  return {
    code: cleanText(error.serviceCode ?? error.code, 80),
    message: cleanText(error.message),
    hint: hint === undefined ? undefined : cleanText(hint),
    retryable: advice === undefined && error.retryable,
    retryAfterMs: error.retryAfterMs,
    nextAction: limitAction(error.nextAction),
  };
}

/**
 * Describes a failure on this machine, such as a full disk under the journal: at most its code, because its text may
 * hold a path. SQLite has a fixed sentence for each of its codes.
 */
export function describeBreakdown(error: unknown): { code: string; message: string; hint: string; retryable: boolean } {
  const { code = "unexpected", errstr = code } = Object(error) as { code?: unknown; errstr?: unknown };
  return {
    code: "internal",
    message: `The call could not be carried out on this machine (${String(errstr)}).`,
    hint: "Tell the user; check the disk and the state folder.",
    retryable: false,
  };
}
