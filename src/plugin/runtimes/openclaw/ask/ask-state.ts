import type { ApprovalRequest } from "../../../calls/ask/request.ts";
import { createDecisions, createExpiringMap } from "./decisions.ts";

/** Decisions of humans and the cards they were shown; it outlives a reload of the plugin. */
export type AskState = ReturnType<typeof createAskState>;

/** Starts without any. */
export function createAskState() {
  return {
    /** Answers to cards of calls that are about to run. */
    decisions: createDecisions(),
    /** Calls that wait for a command of a human. */
    waitingCalls: createWaitingCalls(),
    /** Cards the host shows cut, in full. */
    cards: createShownCards(),
  };
}

/** A call that waits for a human where the host had nobody to ask. */
export interface WaitingCall {
  /** 8 characters without look-alikes. For humans: no outcome, log line or file holds it. */
  readonly code: string;
  readonly request: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly state: "open" | "approved" | "declined";
  /** Undefined while it is open. */
  readonly decision?: WaitingDecision;
}

/** A human's decision on a waiting call. */
export type WaitingDecision = "approve" | "always" | "decline";

/** The call as it is after a decision, or why nothing was decided, for the human. */
type WaitingVerdict =
  | { readonly ok: true; readonly waitingCall: WaitingCall }
  | { readonly ok: false; readonly message: string };

/**
 * Requests that only a command of a human releases. They live in the memory of the host's process: no file can be
 * forged, and after a restart an old code releases nothing.
 */
export type WaitingCalls = ReturnType<typeof createWaitingCalls>;

/** A run at night waits for the morning. */
const WAIT_MS = 24 * 60 * 60 * 1_000;
/** A flood of requests must not bury the one a human is looking for. */
const MOST_WAITING = 20;

/** Starts without entries: at most 20 calls wait, each for 24 hours, and for 24 more once it is decided. */
export function createWaitingCalls({ now = Date.now }: { readonly now?: () => number } = {}) {
  const entries = new Map<string, WaitingCall>();
  const list = (): readonly WaitingCall[] => {
    for (const [code, { expiresAt }] of entries) if (expiresAt <= now()) entries.delete(code);
    return [...entries.values()];
  };
  const find = (code: string) => list().find((entry) => entry.code === readShortCode(code));
  const findEqual = (fingerprint: string) => list().find((entry) => entry.request.fingerprint === fingerprint);
  return {
    /** Calls that still count, open and decided, oldest first. */
    list,
    /** By code, in any case and with or without separators. */
    find,
    /** Keeps the request waiting, or finds an equal one; undefined when too many wait already. */
    open(request: ApprovalRequest): WaitingCall | undefined {
      const known = findEqual(request.fingerprint);
      const open = list().filter(({ state }) => state === "open");
      if (known !== undefined || open.length >= MOST_WAITING) return known;
      const entry: WaitingCall = { code: createShortCode(), request, expiresAt: now() + WAIT_MS, state: "open" };
      entries.set(entry.code, entry);
      return entry;
    },
    /** Decides a waiting call. Call it for a human's own command only. */
    decide(code: string, decision: WaitingDecision): WaitingVerdict {
      const entry = find(code);
      const message = findProblem(entry, decision);
      if (entry === undefined || message !== undefined) return { ok: false, message: message ?? UNKNOWN_CODE };
      const state = decision === "decline" ? "declined" : "approved";
      const waitingCall: WaitingCall = { ...entry, state, decision, expiresAt: now() + WAIT_MS };
      entries.set(entry.code, waitingCall);
      return { ok: true, waitingCall };
    },
    /** True when an equal call is decided and would not be asked about again. */
    isDecided: (fingerprint: string) => findEqual(fingerprint)?.decision !== undefined,
    /** Takes the decision on an equal call; it counts once. */
    take(fingerprint: string): WaitingDecision | undefined {
      const entry = findEqual(fingerprint);
      if (entry?.decision !== undefined) entries.delete(entry.code);
      return entry?.decision;
    },
  };
}

const UNKNOWN_CODE = "No request waits under this code: it may be mistyped, expired, used, or from before a restart.";

function findProblem(entry: WaitingCall | undefined, decision: WaitingDecision): string | undefined {
  if (entry === undefined) return UNKNOWN_CODE;
  if (entry.state !== "open") return `This request is already ${entry.state}.`;
  if (decision !== "always" || mayStand(entry.request)) return undefined;
  return "A standing permission is possible only for a call that writes with a known account. Approve it once instead.";
}

/** True where "always allow" may be offered: the tool writes and the account is known. */
export function mayStand(request: Pick<ApprovalRequest, "effect" | "connection">): boolean {
  return request.effect === "write" && request.connection !== undefined;
}

const CARD_MS = 60 * 60 * 1_000;
const MOST_CARDS = 100;

/** Cards the host shows cut, in full: at most 100 for an hour, in memory, like everything that waits for a human. */
export function createShownCards({ now = Date.now }: { readonly now?: () => number } = {}) {
  const cards = createExpiringMap<ApprovalRequest>(now, MOST_CARDS);
  const read = createExpiringMap<true>(now, MOST_CARDS);
  return {
    /**
     * Keeps the request under a new code that may be shown to anybody: it shows, it releases nothing. It is kept as
     * expiring with its card, which waits `waitMs`.
     */
    add(request: ApprovalRequest, waitMs: number): string {
      const code = createShortCode();
      cards.put(code, { ...request, expiresAt: new Date(now() + waitMs).toISOString() }, CARD_MS);
      return code;
    },
    /** By code, in any case and with or without separators. */
    find: (code: string) => cards.get(readShortCode(code)),
    /** Notes that a human was shown all of an equal request. */
    markRead: (fingerprint: string) => read.put(fingerprint, true, CARD_MS),
    /** True for an hour after that. */
    wasRead: (fingerprint: string) => read.get(fingerprint) === true,
  };
}

/** Letters and digits nobody mistakes for another one, read or spoken. */
const ALPHABET = "23456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;

/** A random code of 8 characters, about 39 bits. `random` gives bytes nobody can guess. */
export function createShortCode(random: (count: number) => Uint8Array = getRandomBytes): string {
  let code = "";
  while (code.length < LENGTH) {
    for (const byte of random(LENGTH)) {
      // Bytes beyond the last whole round would make some characters likelier than others.
      if (byte < 256 - (256 % ALPHABET.length) && code.length < LENGTH) code += ALPHABET[byte % ALPHABET.length];
    }
  }
  return code;
}

/** A code as somebody typed it: in any case, with or without separators. */
function readShortCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/** From the global, which loads nothing before it is used. */
function getRandomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
