import { KEY_HINT } from "../client/credential-advice.ts";
import type { NextAction } from "../errors.ts";
import { redactHint } from "../media/redact-hint.ts";
import { findConnectUrl } from "./connect-link.ts";
import { createOutcome, type ToolOutcome } from "./outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "./pipeline.ts";
import type { Failure } from "./read-failure.ts";
import { cleanLines, cleanText } from "./safe-text.ts";

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
export function describeKeyProblem(plan: CallPlan, failure: Failure): ToolOutcome {
  const { retryAfterMs: _, nextAction: __, ...outcome } = describeFailure(plan, failure);
  return { ...outcome, code: "unauthorized", hint: KEY_HINT, retryable: false };
}

/** The app is not connected, or its sign-in expired: a human follows the link, then the same call is made again. */
export async function describeMissingConnection(
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

/** The service's recommended way to a usable connection, or the one the document names. */
export function toConnectAction(plan: CallPlan, failure: Failure): NextAction {
  const reconnect = isSignInExpired(failure) ? { force_reconnect: true } : {};
  const usual = { tool: "svc.connect_app", input: { integration_id: plan.entry.integration, ...reconnect } };
  return failure.nextAction ?? usual;
}

function isSignInExpired({ status, canonicalCode }: Failure): boolean {
  return status === 401 || canonicalCode === "reauth_required";
}

function explainStatus(failure: Failure): string | undefined {
  if (failure.status === 402) return "The service's billing limit is reached; the user must settle this, not you.";
  if (failure.status === 403) return "The account lacks a permission; the user can reconnect the app and grant it.";
  if (failure.status === 422) return "The app needs to be set up by the user; calling again will not help.";
  if (failure.status === 429) return "Wait before calling again; the call was not repeated by itself.";
  return undefined;
}
