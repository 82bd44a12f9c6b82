import { type CallTable, createHeldCalls, createStoredCalls } from "./call-table.ts";
import {
  type BeginTerms,
  type IsKnown,
  isOvertaken,
  type JournalKey,
  type JournalRecord,
  listFingerprints,
  outranks,
  toMapKey,
} from "./journal-record.ts";
import type { StateFile } from "./state-file.ts";

type Awaitable<T> = T | Promise<T>;

/** Remembers calls that may act, so that a crash or a re-run never sends one twice. */
export interface CallJournal {
  /** Looks at what is not read anew each time, such as a checkpoint; before `find` of a call that may act. */
  refresh?(): Promise<void>;
  /** State of this call, or undefined when it is new. */
  find(key: JournalKey): Awaitable<JournalRecord | undefined>;
  /**
   * A call with the same fingerprint, or whose request had it, whatever its id, that was sent and never answered, and that
   * nobody was warned of. `isKnown` leaves out such as the caller has found before.
   */
  findUnanswered(fingerprint: string, isKnown?: IsKnown): Awaitable<JournalRecord | undefined>;
  /**
   * Records that a request leaves, unless something is in its way: this call, sent by another process since `known`, or an
   * equal one for which `isKnown` is false. That one is returned, and nothing recorded. No other process that uses the
   * journal begins meanwhile. A journal without it can only look first and record then.
   */
  begin?(record: JournalRecord, terms: BeginTerms): Promise<JournalRecord | undefined>;
  /**
   * Resolves once the record would survive a power cut. It does not replace a record of another process by which more has
   * happened: that the call was sent, or how it ended.
   */
  record(record: JournalRecord): Promise<void>;
  /** Drops this record of a call that provably did nothing, so that the call may be made again. A later record stays. */
  forget(record: JournalRecord): Promise<void>;
}

/** The journal of this machine. */
export interface Journal extends CallJournal {
  find(key: JournalKey): JournalRecord | undefined;
  findUnanswered(fingerprint: string, isKnown?: IsKnown): JournalRecord | undefined;
  begin(record: JournalRecord, terms: BeginTerms): Promise<JournalRecord | undefined>;
}

/** Records between two looks at what is too old or too many. */
const PRUNE_EVERY = 1_000;

/**
 * Opens the journal in a state file, which all processes that have it open share; without one it lives in memory.
 * Answered records are dropped once there are others 7 days newer, and beyond 10,000 records the oldest, answered ones
 * first.
 */
export async function openJournal(state?: StateFile, options: { now?: () => number } = {}): Promise<Journal> {
  const now = options.now ?? Date.now;
  const calls = state === undefined ? createHeldCalls() : createStoredCalls(state);
  const change = state === undefined ? async <T>(work: () => T) => work() : state.change;
  // What cannot be dropped, on a full disk for one, stays.
  const prune = () => change(() => calls.prune(now())).catch(() => undefined);
  let puts = 0;
  const put = (record: JournalRecord) => {
    calls.put(record);
    puts += 1;
    if (puts % PRUNE_EVERY === 0) void prune();
  };
  await prune();
  return {
    find: (key) => calls.find(key),
    findUnanswered: (fingerprint, isKnown = () => false) =>
      calls.listDoubts(fingerprint).find((record) => !isKnown(record)),
    begin: (record, terms) =>
      change(() => {
        const obstacle = findObstacle(calls, record, terms);
        if (obstacle === undefined) put(record);
        return obstacle;
      }),
    record: (record) =>
      change(() => {
        const found = calls.find(record);
        if (found === undefined || !outranks(found, record)) put(record);
      }),
    forget: (record) => change(() => calls.drop(record)),
  };
}

function findObstacle(calls: CallTable, record: JournalRecord, terms: BeginTerms): JournalRecord | undefined {
  const found = calls.find(record);
  if (isOvertaken(found, terms)) return found;
  const isOther = (other: JournalRecord) => toMapKey(other) !== toMapKey(record) && !terms.isKnown(other);
  return listFingerprints(record)
    .flatMap((fingerprint) => calls.listDoubts(fingerprint))
    .find(isOther);
}

/** Begins a call; see `CallJournal.begin`. With a journal that cannot do both at once it looks first and records then. */
export async function beginCall(
  journal: CallJournal,
  record: JournalRecord,
  terms: BeginTerms,
): Promise<JournalRecord | undefined> {
  if (journal.begin !== undefined) return journal.begin(record, terms);
  await journal.refresh?.();
  const found = await journal.find(record);
  if (isOvertaken(found, terms)) return found;
  const isKnown = (other: JournalRecord) => toMapKey(other) === toMapKey(record) || terms.isKnown(other);
  for (const fingerprint of listFingerprints(record)) {
    const other = await journal.findUnanswered(fingerprint, isKnown);
    if (other !== undefined && !isKnown(other)) return other;
  }
  await journal.record(record);
  return undefined;
}
