import { randomUUID } from "node:crypto";
import type { CallTurn } from "../../../calls/call-queue.ts";
import type { HostToolContext } from "../host/host-tool.ts";

/** A human's yes to the card of a call that is about to run. */
type CardDecision = "allow-once" | "allow-always";

/** Why a call was not approved. `unread`: allowed on a card that did not show all of it. */
export type Refusal = "denied" | "timeout" | "no_route" | "unread";

const DECISION_MS = 2 * 60 * 1_000;
const REFUSAL_MS = 60 * 60 * 1_000;
/** A host that has an Allow makes the call at once, or not at all. */
const HOLD_MS = 5_000;

interface HeldTurn {
  readonly turn: CallTurn;
  readonly timer: ReturnType<typeof setTimeout>;
}

/**
 * Carries a human's answer from the host's card into the call, and remembers refusals for the rest of a run. In memory
 * only: a restart forgets every decision, so that none of them can be used later. Calls are named by {@link nameCall}. Of
 * each kind the newest `limit` entries are kept.
 */
export function createDecisions({ now = Date.now, limit = 500 }: { now?: () => number; limit?: number } = {}) {
  const decisions = createExpiringMap<CardDecision>(now, limit);
  const asked = createExpiringMap<true>(now, limit);
  const runs = createExpiringMap<string>(now, limit);
  const places = createExpiringMap<number>(now, limit);
  const held = createExpiringMap<HeldTurn>(now, limit);
  const unattended = createExpiringMap<true>(now, limit);
  const unread = createExpiringMap<true>(now, limit);
  const refusals = createExpiringMap<Refusal>(now, limit);
  // The host's HTTP endpoint may give two calls of the same millisecond one id.
  const join = (id: string, fingerprint: string) => `${fingerprint} ${id}`;
  return {
    /** Notes the decision of a call; it counts once, for this fingerprint, for two minutes. */
    record(callId: string, fingerprint: string, decision: CardDecision): void {
      decisions.put(join(callId, fingerprint), decision, DECISION_MS);
      asked.put(callId, true, DECISION_MS);
    },
    /** Takes the decision of a call; `changed` if a human was asked about another one, undefined if not asked. */
    take(callId: string, fingerprint: string): CardDecision | "changed" | undefined {
      return decisions.take(join(callId, fingerprint)) ?? (asked.get(callId) === true ? "changed" : undefined);
    },
    /** Notes which run a call belongs to. Without a run a refusal is not remembered. */
    enter(callId: string, run: string | undefined): void {
      if (run !== undefined) runs.put(callId, run, REFUSAL_MS);
    },
    findRun: (callId: string) => runs.get(callId),
    /** Notes the place of a call among those that were made. */
    place: (callId: string, number: number) => places.put(callId, number, REFUSAL_MS),
    /** Keeps the turn of a call that was just allowed, so that no call behind it is sent before the host makes it. */
    hold(callId: string, turn: CallTurn): void {
      const timer = setTimeout(() => turn.leave(), HOLD_MS);
      timer.unref?.();
      held.put(callId, { turn, timer }, HOLD_MS);
    },
    /** The place of a call that the host makes now, and the turn that was kept for it. */
    takePlace(callId: string): { readonly place: number | undefined; readonly turn: CallTurn | undefined } {
      const kept = held.take(callId);
      clearTimeout(kept?.timer);
      return { place: places.take(callId), turn: kept?.turn };
    },
    /** Notes that nobody's message has started the run of this call. */
    markUnattended: (callId: string) => unattended.put(callId, true, REFUSAL_MS),
    /** Notes that a human has allowed this call on a card that did not show all of it. */
    markUnread: (callId: string) => unread.put(callId, true, DECISION_MS),
    wasUnread: (callId: string) => unread.get(callId) === true,
    isUnattended: (callId: string) => unattended.get(callId) === true,
    /** Notes that a call of this fingerprint was not approved in the run of `callId`. */
    refuse(callId: string, fingerprint: string, why: Refusal): void {
      const run = runs.get(callId);
      if (run !== undefined) refusals.put(join(run, fingerprint), why, REFUSAL_MS);
    },
    /** How an equal call ended before in this run. */
    findRefusal: (run: string | undefined, fingerprint: string) =>
      run === undefined ? undefined : refusals.get(join(run, fingerprint)),
  };
}

/** A map of at most `limit` entries; the oldest are dropped. Each entry has its own lifetime in milliseconds. */
export function createExpiringMap<Value>(now: () => number, limit: number) {
  const entries = new Map<string, { readonly value: Value; readonly until: number }>();
  const get = (key: string) => {
    const entry = entries.get(key);
    return entry !== undefined && now() < entry.until ? entry.value : undefined;
  };
  return {
    get,
    put(key: string, value: Value, ms: number) {
      entries.delete(key);
      entries.set(key, { value, until: now() + ms });
      const [oldest] = entries.keys();
      if (entries.size > limit && oldest !== undefined) entries.delete(oldest);
    },
    take(key: string) {
      const value = get(key);
      entries.delete(key);
      return value;
    },
  };
}

/** Names a call: models number their calls, so that two conversations may use one id. */
export function nameCall({ sessionKey }: Pick<HostToolContext, "sessionKey">, toolCallId: string): string {
  return JSON.stringify([sessionKey ?? "", toolCallId]);
}

/**
 * The id under which the journal knows a call. The host's own ids come from models, and some count from zero in
 * every answer: without the run, a repeated call would count as a duplicate of the first. The ids of its HTTP
 * endpoint are only a time, so that two requests may share one.
 *
 * @param run undefined where the host does not tell it
 */
export function createCallId(
  { sessionId, sessionKey }: Pick<HostToolContext, "sessionId" | "sessionKey">,
  toolCallId: string,
  run: string | undefined,
): string {
  if (toolCallId.startsWith("http-direct-")) return `${toolCallId}:${randomUUID()}`;
  return [sessionId ?? sessionKey ?? "direct", ...(run === undefined ? [] : [run]), toolCallId].join(":");
}

const RELEASE =
  'Do not make this call again now. Tell the user that it waits for their approval: they see and release it with "/svc pending" in a chat with you, or with "openclaw svc pending" in a terminal. When they say that it is approved, make exactly the same call once. You cannot approve it.';

/** For the model, about an approval that did not come: nothing ran, and how a further try helps or does not. */
export const MISSING_APPROVAL = {
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
} as const satisfies Readonly<Record<Refusal, object>>;

/** One text, for a call that the host blocks. */
export function describeMissing(why: Refusal): string {
  const { message, hint } = MISSING_APPROVAL[why];
  return `${message} ${hint}`;
}
