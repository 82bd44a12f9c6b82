import type { ApprovalRequest } from "../../approvals/request.ts";
import { createShortCode, readShortCode } from "./short-code.ts";

/** A call that waits for a human where the host had nobody to ask. */
export interface Ticket {
  /** 8 characters without look-alikes. For humans: no outcome, log line or file holds it. */
  readonly code: string;
  readonly request: ApprovalRequest;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly state: "open" | "approved" | "declined";
}

/** What a human says to a ticket. */
export type TicketDecision = "approve" | "always" | "decline";

/** Result of {@link TicketBook.decide}: the ticket as it is now, or why nothing was decided, for the human. */
type TicketVerdict = { readonly ok: true; readonly ticket: Ticket } | { readonly ok: false; readonly message: string };

/**
 * Requests that only a command of a human releases. They live in the memory of the host's process: no file can be
 * forged, and after a restart an old code releases nothing.
 */
export interface TicketBook {
  /** Opens a ticket, or finds the one of an equal call; undefined when too many wait already. */
  open(request: ApprovalRequest): Ticket | undefined;
  /** Tickets that still count, open and decided, oldest first. */
  list(): readonly Ticket[];
  /** By code, in any case and with or without separators. */
  find(code: string): Ticket | undefined;
  /** Decides a ticket. Call it for a human's own command only. */
  decide(code: string, decision: TicketDecision): TicketVerdict;
  /** True when an equal call is decided and would not be asked about again. */
  isDecided(fingerprint: string): boolean;
  /** Takes the decision on an equal call; it counts once. */
  take(fingerprint: string): TicketDecision | undefined;
}

/** Settings of {@link createTicketBook}. */
export interface TicketBookOptions {
  readonly now?: (() => number) | undefined;
  /** Bytes that nobody can guess. */
  readonly random?: ((count: number) => Uint8Array) | undefined;
}

type Entry = Ticket & { readonly decision?: TicketDecision };

const TICKET_MS = 15 * 60 * 1_000;
/** A flood of requests must not bury the one a human is looking for. */
const MOST = 20;

/** Opens an empty book: at most 20 tickets, each counts for 15 minutes, and for 15 more once it is decided. */
export function createTicketBook(options: TicketBookOptions = {}): TicketBook {
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
      const entry: Entry = { code: createShortCode(random), request, expiresAt: now() + TICKET_MS, state: "open" };
      entries.set(entry.code, entry);
      return entry;
    },
    decide(code, decision) {
      const entry = find(code);
      const problem = entry === undefined ? unknownCode() : findProblem(entry, decision);
      if (entry === undefined || problem !== undefined) return { ok: false, message: problem ?? unknownCode() };
      const state = decision === "decline" ? "declined" : "approved";
      const decided: Entry = { ...entry, state, decision, expiresAt: now() + TICKET_MS };
      entries.set(entry.code, decided);
      return { ok: true, ticket: decided };
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

function findProblem({ state, request }: Ticket, decision: TicketDecision): string | undefined {
  if (state !== "open") return `This request is already ${state}.`;
  if (decision !== "always" || mayStand(request)) return undefined;
  return "A standing permission is possible only for a call that writes with a known account. Approve it once instead.";
}

function unknownCode(): string {
  return "No request waits under this code: it may be mistyped, expired, used, or from before a restart.";
}
