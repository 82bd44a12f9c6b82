import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import { createDecisions, type Decisions } from "./decisions.ts";
import { createExpiringMap } from "./expiring-map.ts";
import { createShortCode, createWaitingCalls, readShortCode, type WaitingCalls } from "./waiting-calls.ts";

/** Cards the host shows cut, in full. In memory, like everything that waits for a human. */
export interface ShownCards {
  /** Keeps the request under a new code that may be shown to anybody: it shows, it releases nothing. */
  add(request: ApprovalRequest): string;
  /** By code, in any case and with or without separators; undefined an hour after it was added. */
  find(code: string): ApprovalRequest | undefined;
  /** Notes that a human was shown all of an equal request. */
  markRead(fingerprint: string): void;
  /** True for an hour after that. */
  wasRead(fingerprint: string): boolean;
}

/** Settings of {@link createShownCards}. */
interface ShownCardsOptions {
  readonly now?: (() => number) | undefined;
  readonly random?: ((count: number) => Uint8Array) | undefined;
}

const CARD_MS = 60 * 60 * 1_000;
const MOST = 100;

/** Starts without cards; keeps at most 100, the oldest are dropped. */
export function createShownCards(options: ShownCardsOptions = {}): ShownCards {
  const { now = Date.now, random } = options;
  const cards = createExpiringMap<ApprovalRequest>(now, MOST);
  const read = createExpiringMap<true>(now, MOST);
  return {
    add(request) {
      const code = createShortCode(random);
      cards.put(code, request, CARD_MS);
      return code;
    },
    find: (code) => cards.get(readShortCode(code)),
    markRead: (fingerprint) => read.put(fingerprint, true, CARD_MS),
    wasRead: (fingerprint) => read.get(fingerprint) === true,
  };
}

/** What humans said and were shown; it outlives a reload of the plugin. */
export interface AskState {
  /** What humans said to cards of calls that are about to run. */
  readonly decisions: Decisions;
  /** Calls that wait for a command of a human. */
  readonly waitingCalls: WaitingCalls;
  /** Cards the host shows cut, in full. */
  readonly cards: ShownCards;
}

/** Starts without any. */
export function createAskState(): AskState {
  return { decisions: createDecisions(), waitingCalls: createWaitingCalls(), cards: createShownCards() };
}
