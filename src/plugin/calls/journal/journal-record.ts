import { z } from "zod";
import { SIDE_EFFECT_LEVELS, type SideEffectLevel, sideEffectLevelSchema } from "../../../shared/wire/catalog.ts";
import { jsonObject } from "../../../shared/wire/tool.ts";
import type { Effect } from "../ask/request.ts";

/**
 * probing: an unconfirmed request is on its way · pending: a human is asked · approved: may be sent · sending: a request
 * that may act is on its way · done: answered.
 */
const JOURNAL_STATES = ["probing", "pending", "approved", "sending", "done"] as const;
export type JournalState = (typeof JOURNAL_STATES)[number];

/** A call is known by the runtime's call id and the fingerprint of what the caller asked for. */
export interface JournalKey {
  readonly callId: string;
  readonly fingerprint: string;
}

/** The fingerprint of what a runtime keeps beside its calls: steps of a graph. */
export const STEP = "step of a graph";

/** True for a record of a step of a graph; all others are of calls. */
export function isStep({ fingerprint }: JournalKey): boolean {
  return fingerprint === STEP;
}

/** The latest state of one call. */
export interface JournalRecord extends JournalKey {
  readonly state: JournalState;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tool: string;
  /** The approval the state rests on: its fingerprint covers edits, files and the chosen connection. */
  readonly approval?: { readonly id: string; readonly fingerprint: string; readonly expiresAt: string } | undefined;
  /** Requests of this call that a human said yes to, while nothing was sent: ids. For runtimes that keep answers. */
  readonly granted?: readonly string[] | undefined;
  /** With `granted`: stamp of the last failure on the account that was known when the last yes came; "" for none. */
  readonly grantedAfter?: string | undefined;
  /** Stamp of the failure on its account after which the call is asked about anew. */
  readonly askedAfter?: string | undefined;
  /** Set once a request that may act has left: the account as `nameAccount` names it. */
  readonly account?: string | undefined;
  /** Set while `pending` with the owner of the service: the id of the approval. */
  readonly held?: string | undefined;
  /** Set once a request that may act has left: fingerprint of the sent request, after edits and account choice. */
  readonly request?: string | undefined;
  /** Set once a request that may act has left: the process that waits for its answer. */
  readonly sender?: { readonly host: string; readonly pid: number } | undefined;
  /** True once nobody waits for the answer any more. */
  readonly isLost?: boolean | undefined;
  /**
   * Set while `sending` under an idempotency key the service honours: the same request may be made again until `until`
   * (milliseconds since the epoch) and acts at most once.
   */
  readonly repeatable?:
    | {
        readonly key: string;
        readonly arguments: Readonly<Record<string, unknown>>;
        readonly until: number;
        /** Without it the request is never made again: its result is only looked up. */
        readonly approved?: ApprovedFacts | undefined;
      }
    | undefined;
  /**
   * Time (milliseconds since the epoch) when a duplicate of this unanswered call ended that a human had approved after
   * a warning. Later duplicates get no warning of this call.
   */
  readonly warnedAt?: number | undefined;
  /** Set when `done`: the outcome, answered again when the same call comes back. */
  readonly outcome?: unknown;
}

/** The facts an approval was given for; they must still hold when its request is repeated. */
export interface ApprovedFacts {
  readonly effect: Effect;
  /** The level that the confirmation is for, where the service takes it. */
  readonly level?: SideEffectLevel | undefined;
  /** State of the preview that was shown; left out when none was. */
  readonly state?: string | undefined;
  /** SHA-256 of the tool's schema; left out when it was not known. */
  readonly schemaHash?: string | undefined;
  /** The account the request acts on; left out when the service named none. */
  readonly account?: { readonly id: string; readonly label: string } | undefined;
  /** True when the request names its account, so that the default may change. */
  readonly namesAccount: boolean;
  /** When the decision of a human ends (milliseconds since the epoch); left out where a standing permission counted. */
  readonly until?: number | undefined;
}

/** True when a request that may have acted was sent and its answer never arrived. */
export function isUnanswered(record: JournalRecord): boolean {
  return record.state === "sending" || record.state === "probing";
}

/** True when a human must be warned before a duplicate is sent. */
export function needsWarning(record: JournalRecord): boolean {
  return isUnanswered(record) && record.warnedAt === undefined;
}

/** True if the call asked for the request with this fingerprint, or sent it after an edit. */
export function isEqualTo(record: JournalRecord, fingerprint: string): boolean {
  return record.fingerprint === fingerprint || record.request === fingerprint;
}

/** True when a request that may have acted was sent, answered or not. */
export function hasLeft(record: JournalRecord): boolean {
  return isUnanswered(record) || record.state === "done";
}

/**
 * True while a record from the time `from` is valid. If the clock was set back since, the elapsed time is unknown and
 * the record is invalid.
 */
export function isWithin(now: number, from: number, until: number): boolean {
  return from <= now && now < until;
}

/**
 * Chooses between two records of one call, written by two processes: the more advanced state wins, then the later time.
 * Time does not decide first, because the clock may have been set back.
 */
export function chooseRecord(a: JournalRecord, b: JournalRecord): JournalRecord {
  const [first, second] = [rank(a), rank(b)];
  if (first !== second) return first > second ? a : b;
  return a.at > b.at ? a : b;
}

/**
 * True when `found`, possibly from another process, must be kept although `record` is newer: its state is more
 * advanced, or it belongs to a later request of this call.
 */
export function outranks(found: JournalRecord, record: JournalRecord): boolean {
  const [first, second] = [rank(found), rank(record)];
  return first > second || (first === second && isUnanswered(found) && found.at > record.at);
}

/**
 * A request that one process was told not to send may have been sent by another; an answered call is not sent again.
 */
function rank(record: JournalRecord): number {
  if (!hasLeft(record)) return 0;
  if (isUnanswered(record)) return 2;
  const { outcome } = record;
  const isDeclined =
    typeof outcome === "object" && outcome !== null && "status" in outcome && outcome.status === "declined";
  return isDeclined ? 1 : 3;
}

/** True for an unanswered call that a search must skip. */
export type IsKnown = (record: JournalRecord) => boolean;

/** Records that do not keep a request from leaving; see `CallJournal.begin`. */
export interface BeginTerms {
  /** Records of this call that the caller has read or written; any other was written by another process. */
  readonly known: readonly JournalRecord[];
  /** True for an unanswered call that a human was told of or that does not matter. */
  readonly isKnown: IsKnown;
}

/** True when another process has sent this call: `found` was not written or read by the caller. */
export function isOvertaken(found: JournalRecord | undefined, { known }: BeginTerms): found is JournalRecord {
  if (found === undefined || !hasLeft(found)) return false;
  return !known.some(({ state, at }) => state === found.state && at === found.at);
}

/** True for a request of another call on the same account: it is in the way until it is answered. */
export function isOtherOfAccount(found: JournalRecord, record: JournalRecord): boolean {
  const isEqual = listFingerprints(record).some((fingerprint) => isEqualTo(found, fingerprint));
  return found.account !== undefined && found.account === record.account && !isEqual;
}

/** Fingerprints that identify duplicate calls (requested and sent form). */
export function listFingerprints({ fingerprint, request }: JournalRecord): string[] {
  return request === undefined || request === fingerprint ? [fingerprint] : [fingerprint, request];
}

const approvedSchema = z.object({
  effect: z.enum([...SIDE_EFFECT_LEVELS, "unknown"]),
  level: sideEffectLevelSchema.optional(),
  schemaHash: z.string().optional(),
  account: z.object({ id: z.string(), label: z.string() }).optional(),
  namesAccount: z.boolean(),
  until: z.number().optional(),
});

const recordSchema = z.object({
  callId: z.string(),
  fingerprint: z.string(),
  state: z.enum(JOURNAL_STATES),
  at: z.number(),
  tool: z.string(),
  approval: z.object({ id: z.string(), fingerprint: z.string(), expiresAt: z.string() }).optional(),
  granted: z.array(z.string()).optional(),
  grantedAfter: z.string().optional(),
  askedAfter: z.string().optional(),
  account: z.string().optional(),
  held: z.string().optional(),
  request: z.string().optional(),
  sender: z.object({ host: z.string(), pid: z.number() }).optional(),
  isLost: z.boolean().optional(),
  repeatable: z
    .object({ key: z.string(), arguments: jsonObject, until: z.number(), approved: approvedSchema.optional() })
    .optional(),
  warnedAt: z.number().optional(),
  outcome: z.unknown().optional(),
});

/** Reads a stored record; undefined if it is invalid. */
export function readJournalRecord(value: unknown): JournalRecord | undefined {
  return recordSchema.safeParse(value).data;
}
