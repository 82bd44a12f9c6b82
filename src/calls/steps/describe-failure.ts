import { KEY_HINT } from "../../client/failure.ts";
import { redactHint } from "../../media/send/upload-hint.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { createOutcome, type ToolOutcome } from "../outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "../pipeline.ts";
import { cleanLines, cleanText } from "../safe-text.ts";
import { findConnectUrl, isSignInExpired, toConnectAction } from "./await-connection.ts";
import type { Failure, Judgement } from "./judge-reply.ts";

/** The outcome of a failure that nobody here can set right. The service's texts are cleaned, upload commands hidden. */
export function describeFailure(plan: CallPlan, failure: Failure, notes: readonly string[] = []): ToolOutcome {
  const details = cleanLines(failure.details, redactHint);
  return createOutcome(
    "failed",
    plan.entry.name,
    {
      code: cleanText(failure.code, 80),
      message: cleanText(redactHint(failure.message)),
      hint: failure.hint === undefined ? explainStatus(failure) : cleanText(redactHint(failure.hint)),
      details: details.length === 0 ? undefined : details,
      retryable: failure.retryable,
      retryAfterMs: failure.retryAfterMs,
      nextAction: failure.nextAction,
    },
    [...plan.notes, ...notes],
  );
}

/** The service does not know the key: calling on is useless until the device is paired again. */
function describeKeyProblem(plan: CallPlan, failure: Failure): ToolOutcome {
  const { retryAfterMs: _, nextAction: __, ...outcome } = describeFailure(plan, failure);
  return { ...outcome, code: "unauthorized", hint: KEY_HINT, retryable: false };
}

/** The app is not connected, or its sign-in expired: a human follows the link, then the same call is made again. */
async function describeMissingConnection(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  failure: Failure,
): Promise<ToolOutcome> {
  const isExpired = isSignInExpired(failure);
  const nextAction = toConnectAction(plan, failure);
  const connectUrl = await findConnectUrl(pipeline.client, nextAction, call.signal);
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

function explainStatus(failure: Failure): string | undefined {
  if (failure.status === 402) return "The service's billing limit is reached; the user must settle this, not you.";
  if (failure.status === 403) return "The account lacks a permission; the user can reconnect the app and grant it.";
  if (failure.status === 422) return "The app needs to be set up by the user; calling again will not help.";
  if (failure.status === 429) return "Wait before calling again; the call was not repeated by itself.";
  return undefined;
}

/** The outcome of an answer that nothing more is done about. */
export async function settleReply(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  judgement: Judgement,
): Promise<ToolOutcome> {
  if (judgement.kind === "success") {
    return describeSuccess(pipeline, call, plan, judgement.result);
  }
  const { failure } = judgement;
  if (failure.leavesDoubt && plan.entry.effect !== "read") {
    const unknown = createUnknownOutcome(pipeline, plan.entry, cleanText(failure.message, 300));
    return { ...unknown, notes: [...plan.notes] };
  }
  if (judgement.kind === "needs_connection") return describeMissingConnection(pipeline, call, plan, failure);
  if (judgement.kind === "key") return describeKeyProblem(plan, failure);
  return describeFailure(plan, failure);
}

/** The outcome of a call that was sent and not answered; names read tools that can tell what happened. */
export function createUnknownOutcome(pipeline: Pipeline, entry: CatalogEntry, why: string): ToolOutcome {
  const { own } = entry;
  const reads = pipeline.catalog
    .list()
    .filter((other) => other.integration === entry.integration && other.effect === "read")
    .slice(0, 3)
    .map((other) => other.name);
  const tools = reads.length === 0 ? "a read tool of this app" : reads.join(", ");
  return createOutcome("unknown", entry.name, {
    code: "outcome_unknown",
    message: `It is not known whether this call took effect. ${why} It will not be sent again by itself.`,
    hint: own?.howToCheck ?? `Check with ${tools} whether it happened before making the call again.`,
    retryable: false,
  });
}

/** What was done stays done, even when its result cannot be kept here. */
async function describeSuccess(
  pipeline: Pipeline,
  call: ToolCall,
  plan: CallPlan,
  answer: unknown,
): Promise<ToolOutcome> {
  const { result, notes } = await receive(pipeline, call, answer);
  const allNotes = [...plan.notes, ...notes];
  try {
    return createOutcome("succeeded", plan.entry.name, await pipeline.results.cap(result), allNotes);
  } catch {
    const note = "the result was too large to show and could not be stored on this machine";
    return createOutcome("succeeded", plan.entry.name, {}, [...allNotes, note]);
  }
}

/** A receiver that fails, or is stopped, changes nothing. */
async function receive(pipeline: Pipeline, { signal }: ToolCall, result: unknown) {
  try {
    return (await pipeline.receiveResult?.(result, { signal })) ?? { result, notes: [] };
  } catch {
    return { result, notes: [] };
  }
}
