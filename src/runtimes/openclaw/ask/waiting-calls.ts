import type { ApprovalRequest } from "../../../calls/ask/request.ts";

/** A call that waits for a human where the host had nobody to ask. */
export interface WaitingCall {
  /** 8 characters without look-alikes. For humans: no outcome, log line or file holds it. */
  readonly code: string;
  readonly request: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly state: "open" | "approved" | "declined";
}

/** What a human says to a waiting call. */
export type WaitingDecision = "approve" | "always" | "decline";

/** Result of {@link WaitingCalls.decide}: the call as it is now, or why nothing was decided, for the human. */
type WaitingVerdict =
  | { readonly ok: true; readonly waitingCall: WaitingCall }
  | { readonly ok: false; readonly message: string };

/**
 * Requests that only a command of a human releases. They live in the memory of the host's process: no file can be
 * forged, and after a restart an old code releases nothing.
 */
export interface WaitingCalls {
  /** Keeps the request waiting, or finds an equal one; undefined when too many wait already. */
  open(request: ApprovalRequest): WaitingCall | undefined;
  /** Calls that still count, open and decided, oldest first. */
  list(): readonly WaitingCall[];
  /** By code, in any case and with or without separators. */
  find(code: string): WaitingCall | undefined;
  /** Decides a waiting call. Call it for a human's own command only. */
  decide(code: string, decision: WaitingDecision): WaitingVerdict;
  /** True when an equal call is decided and would not be asked about again. */
  isDecided(fingerprint: string): boolean;
  /** Takes the decision on an equal call; it counts once. */
  take(fingerprint: string): WaitingDecision | undefined;
}

/** Settings of {@link createWaitingCalls}. */
interface WaitingCallsOptions {
  readonly now?: (() => number) | undefined;
  /** Bytes that nobody can guess. */
  readonly random?: ((count: number) => Uint8Array) | undefined;
}

type Entry = WaitingCall & { readonly decision?: WaitingDecision };

const WAIT_MS = 15 * 60 * 1_000;
/** A flood of requests must not bury the one a human is looking for. */
const MOST = 20;

/** Starts without entries: at most 20 calls wait, each for 15 minutes, and for 15 more once it is decided. */
export function createWaitingCalls(options: WaitingCallsOptions = {}): WaitingCalls {
  const { now = Date.now, random } = options;
  const entries = new Map<string, Entry>();
  const list = (): readonly Entry[] => {
    for (const [code, { expiresAt }] of entries) if (expiresAt <= now()) entries.delete(code);
    return [...entries.values()];
  };
  const find = (code: string) => list().find((entry) => entry.code === readShortCode(code));
  const findEqual = (fingerprint: string) => list().find((entry) => entry.request.fingerprint === fingerprint);
  return {
    list,
    find,
    open(request) {
      const known = findEqual(request.fingerprint);
      if (known !== undefined || entries.size >= MOST) return known;
      const entry: Entry = { code: createShortCode(random), request, expiresAt: now() + WAIT_MS, state: "open" };
      entries.set(entry.code, entry);
      return entry;
    },
    decide(code, decision) {
      const entry = find(code);
      const problem = entry === undefined ? unknownCode() : findProblem(entry, decision);
      if (entry === undefined || problem !== undefined) return { ok: false, message: problem ?? unknownCode() };
      const state = decision === "decline" ? "declined" : "approved";
      const decided: Entry = { ...entry, state, decision, expiresAt: now() + WAIT_MS };
      entries.set(entry.code, decided);
      return { ok: true, waitingCall: decided };
    },
    isDecided: (fingerprint) => findEqual(fingerprint)?.decision !== undefined,
    take(fingerprint) {
      const entry = findEqual(fingerprint);
      if (entry?.decision === undefined) return undefined;
      entries.delete(entry.code);
      return entry.decision;
    },
  };
}

/** True where "always allow" may be offered: the tool writes and the account is known. */
export function mayStand(request: Pick<ApprovalRequest, "effect" | "connection">): boolean {
  return request.effect === "write" && request.connection !== undefined;
}

function findProblem({ state, request }: WaitingCall, decision: WaitingDecision): string | undefined {
  if (state !== "open") return `This request is already ${state}.`;
  if (decision !== "always" || mayStand(request)) return undefined;
  return "A standing permission is possible only for a call that writes with a known account. Approve it once instead.";
}

function unknownCode(): string {
  return "No request waits under this code: it may be mistyped, expired, used, or from before a restart.";
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
export function readShortCode(typed: string): string {
  return typed.toUpperCase().replaceAll(/[^A-Z0-9]/g, "");
}

/** From the global, which loads nothing before it is used. */
function getRandomBytes(count: number): Uint8Array {
  return crypto.getRandomValues(new Uint8Array(count));
}
