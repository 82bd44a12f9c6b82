import { z } from "zod";

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

/** Last known state of one call. */
export interface JournalRecord extends JournalKey {
  readonly state: JournalState;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly tool: string;
  /** The approval the state rests on: its fingerprint covers edits, files and the chosen connection. */
  readonly approval?: { readonly id: string; readonly fingerprint: string; readonly expiresAt: string };
  /**
   * Set while `sending` under an idempotency key the service honours: the same request may be made again until `until`
   * (milliseconds since the epoch) and acts at most once.
   */
  readonly repeatable?: {
    readonly key: string;
    readonly arguments: Readonly<Record<string, unknown>>;
    readonly until: number;
  };
  /** Set when `done`: the outcome, answered again when the same call comes back. */
  readonly outcome?: unknown;
}

/** True when a request that may have acted was sent and its answer never arrived. */
export function isUnanswered(record: JournalRecord): boolean {
  return record.state === "sending" || record.state === "probing";
}

/** The journal's key as one string. */
export function toMapKey(key: JournalKey): string {
  return `${key.fingerprint} ${key.callId}`;
}

const recordSchema = z.object({
  callId: z.string(),
  fingerprint: z.string(),
  state: z.enum(JOURNAL_STATES),
  at: z.number(),
  tool: z.string(),
  approval: z.object({ id: z.string(), fingerprint: z.string(), expiresAt: z.string() }).optional(),
  repeatable: z.object({ key: z.string(), arguments: z.record(z.string(), z.unknown()), until: z.number() }).optional(),
  outcome: z.unknown().optional(),
});

/** A record as it was stored; undefined when it is none. */
export function readJournalRecord(value: unknown): JournalRecord | undefined {
  const record = recordSchema.safeParse(value);
  if (!record.success) return undefined;
  const { approval, repeatable, ...rest } = record.data;
  return {
    ...rest,
    ...(approval === undefined ? {} : { approval }),
    ...(repeatable === undefined ? {} : { repeatable }),
  };
}
