import type { HostToolContext } from "./host-tool.ts";

/** What a human said to the card of a call that is about to run. */
type CardDecision = "allow-once" | "allow-always";

/** Why a call was not approved. */
export type Refusal = "denied" | "timeout" | "no_route";

/** A decision as it is taken: it fits the call, or the call is not the one a human was asked about. */
type TakenDecision = { readonly fits: true; readonly decision: CardDecision } | { readonly fits: false };

/**
 * Carries what a human said from the host's card into the call, and remembers refusals for the rest of a run. In memory
 * only: a restart forgets every decision, so that none of them can be used later.
 */
export interface DecisionBook {
  /** Notes the decision of a call, see {@link nameCall}; it counts once, for this fingerprint, for two minutes. */
  record(callId: string, fingerprint: string, decision: CardDecision): void;
  /** Takes the decision of a call out of the book; undefined when there is none. */
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

/** A call as the book knows it: models number their calls, so that two conversations may use one id. */
export function nameCall({ sessionKey }: Pick<HostToolContext, "sessionKey">, toolCallId: string): string {
  return JSON.stringify([sessionKey ?? "", toolCallId]);
}

/** Settings of {@link createDecisionBook}. */
export interface DecisionBookOptions {
  readonly now?: (() => number) | undefined;
  /** Entries of each kind; older ones give way. Default 500. */
  readonly limit?: number | undefined;
}

const DECISION_MS = 2 * 60 * 1_000;
const REFUSAL_MS = 60 * 60 * 1_000;

/** Opens an empty book. */
export function createDecisionBook(options: DecisionBookOptions = {}): DecisionBook {
  const { now = Date.now, limit = 500 } = options;
  const decisions = createShelf<CardDecision>(now, limit);
  const asked = createShelf<true>(now, limit);
  const runs = createShelf<string>(now, limit);
  const refusals = createShelf<Refusal>(now, limit);
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

/** A map whose entries expire and whose oldest entries give way. */
function createShelf<Value>(now: () => number, limit: number) {
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
      for (const oldest of entries.keys()) {
        if (entries.size <= limit) break;
        entries.delete(oldest);
      }
    },
    take(key: string) {
      const value = get(key);
      entries.delete(key);
      return value;
    },
  };
}
