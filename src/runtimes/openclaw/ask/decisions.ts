import { randomUUID } from "node:crypto";
import type { HostToolContext } from "../host/host-tool.ts";
import { createExpiringMap } from "./expiring-map.ts";

/** What a human said to the card of a call that is about to run. */
type CardDecision = "allow-once" | "allow-always";

/** Why a call was not approved. `unread`: allowed on a card that did not show all of it. */
export type Refusal = "denied" | "timeout" | "no_route" | "unread";

/** A decision as it is taken: it fits the call, or the call is not the one a human was asked about. */
type TakenDecision = { readonly fits: true; readonly decision: CardDecision } | { readonly fits: false };

/**
 * Carries what a human said from the host's card into the call, and remembers refusals for the rest of a run. In memory
 * only: a restart forgets every decision, so that none of them can be used later.
 */
export interface Decisions {
  /** Notes the decision of a call, see {@link nameCall}; it counts once, for this fingerprint, for two minutes. */
  record(callId: string, fingerprint: string, decision: CardDecision): void;
  /** Takes the decision of a call; undefined when there is none. */
  take(callId: string, fingerprint: string): TakenDecision | undefined;
  /** Notes which run a call belongs to. Without a run a refusal is not remembered. */
  enter(callId: string, run: string | undefined): void;
  /** The run that a call entered; undefined when it entered none, or more than an hour ago. */
  findRun(callId: string): string | undefined;
  /** Notes that a call of this fingerprint was not approved in the run of `callId`. */
  refuse(callId: string, fingerprint: string, why: Refusal): void;
  /** How an equal call ended before in this run. */
  findRefusal(run: string | undefined, fingerprint: string): Refusal | undefined;
}

/** Names a call: models number their calls, so that two conversations may use one id. */
export function nameCall({ sessionKey }: Pick<HostToolContext, "sessionKey">, toolCallId: string): string {
  return JSON.stringify([sessionKey ?? "", toolCallId]);
}

/** Settings of {@link createDecisions}. */
interface DecisionsOptions {
  readonly now?: (() => number) | undefined;
  /** Entries of each kind; older ones give way. Default 500. */
  readonly limit?: number | undefined;
}

const DECISION_MS = 2 * 60 * 1_000;
const REFUSAL_MS = 60 * 60 * 1_000;

/** Starts without decisions. */
export function createDecisions(options: DecisionsOptions = {}): Decisions {
  const { now = Date.now, limit = 500 } = options;
  const decisions = createExpiringMap<CardDecision>(now, limit);
  const asked = createExpiringMap<true>(now, limit);
  const runs = createExpiringMap<string>(now, limit);
  const refusals = createExpiringMap<Refusal>(now, limit);
  return {
    record(callId, fingerprint, decision) {
      // The host's HTTP endpoint may give two calls of the same millisecond one id.
      decisions.put(join(callId, fingerprint), decision, DECISION_MS);
      asked.put(callId, true, DECISION_MS);
    },
    take(callId, fingerprint) {
      const decision = decisions.take(join(callId, fingerprint));
      if (decision !== undefined) return { fits: true, decision };
      return asked.get(callId) === undefined ? undefined : { fits: false };
    },
    enter(callId, run) {
      if (run !== undefined) runs.put(callId, run, REFUSAL_MS);
    },
    findRun: (callId) => runs.get(callId),
    refuse(callId, fingerprint, why) {
      const run = runs.get(callId);
      if (run !== undefined) refusals.put(join(run, fingerprint), why, REFUSAL_MS);
    },
    findRefusal: (run, fingerprint) => (run === undefined ? undefined : refusals.get(join(run, fingerprint))),
  };
}

function join(id: string, fingerprint: string): string {
  return `${fingerprint} ${id}`;
}

/** What the model is told about an approval that did not come: nothing ran, and how a further try helps or does not. */
interface MissingApproval {
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly retryable: false;
}

const RELEASE =
  'Do not make this call again now. Tell the user that it waits for their approval: they see and release it with "/svc pending" in a chat with you, or with "openclaw svc pending" in a terminal. When they say that it is approved, make exactly the same call once. You cannot approve it.';

const TEXTS: Readonly<Record<Refusal, Omit<MissingApproval, "retryable">>> = {
  denied: {
    code: "declined",
    message: "The user declined this call. Nothing was run.",
    hint: "Do not make this call again unless the user asks for it in a later message.",
  },
  timeout: {
    code: "approval_expired",
    message: "Nobody answered the request for approval in time. Nothing was run.",
    hint: "Do not make this call again now. Tell the user that it was not approved in time, and go on only when they say so.",
  },
  no_route: {
    code: "approval_required",
    message: "This call needs the user's approval, and nobody could be asked here. Nothing was run.",
    hint: RELEASE,
  },
  unread: {
    code: "approval_required",
    message: "The user allowed this call before all of it was shown to them, which does not count. Nothing was run.",
    hint: RELEASE,
  },
};

/** For the outcome of a call that ran into it. */
export function explainMissing(why: Refusal): MissingApproval {
  return { ...TEXTS[why], retryable: false };
}

/** One text, for a call the host is told to block. */
export function describeMissing(why: Refusal): string {
  const { message, hint } = TEXTS[why];
  return `${message} ${hint}`;
}

const HTTP = "http-direct-";

/**
 * The id under which the journal knows a call. The host's own ids come from models, of which some count from zero in
 * every answer: without the run, a call the user asks for once more would be taken for the first one. Those of its HTTP
 * endpoint are only a time, so that two requests may share one.
 *
 * @param run undefined where the host does not tell it
 */
export function createCallId(
  { sessionId, sessionKey }: Pick<HostToolContext, "sessionId" | "sessionKey">,
  toolCallId: string,
  run: string | undefined,
): string {
  if (toolCallId.startsWith(HTTP)) return `${toolCallId}:${randomUUID()}`;
  return [sessionId ?? sessionKey ?? "direct", ...(run === undefined ? [] : [run]), toolCallId].join(":");
}
