import { createBegin } from "./journal-begin.ts";
import { JournalFile } from "./journal-file.ts";
import {
  type BeginTerms,
  chooseRecord,
  type IsKnown,
  isEqualTo,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  leavesDoubt,
  toMapKey,
} from "./journal-record.ts";

type Awaitable<T> = T | Promise<T>;

/** Remembers calls that may act, so that a crash or a re-run never sends one twice. */
export interface CallJournal {
  /** Looks at what other processes have written since; before {@link CallJournal.find} of a call that may act. */
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
   * folder begins meanwhile. A journal without it can only look first and record then.
   */
  begin?(record: JournalRecord, terms: BeginTerms): Promise<JournalRecord | undefined>;
  /** Resolves once the record would survive a power cut. */
  record(record: JournalRecord): Promise<void>;
  /** Drops a call that provably did nothing, so that it may be made again. */
  forget(key: JournalKey): Promise<void>;
}

/** The journal of this machine: in memory, or in memory and on disk. */
export interface Journal extends CallJournal {
  refresh(): Promise<void>;
  find(key: JournalKey): JournalRecord | undefined;
  findUnanswered(fingerprint: string, isKnown?: IsKnown): JournalRecord | undefined;
  begin(record: JournalRecord, terms: BeginTerms): Promise<JournalRecord | undefined>;
  /** Lines that could not be read at opening. */
  readonly damagedLines: number;
  close(): Promise<void>;
}

/** Answered records that are older than the newest one by this are dropped at opening. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1_000;
/** Of more calls than these, the oldest answered ones are forgotten; at opening, of more unanswered ones the oldest. */
const MAX_RECORDS = 10_000;

/**
 * Opens the journal in `folder` (created 0700): one append-only file of JSON lines per process, mode 0600, each record
 * synced to disk before `record` resolves. At opening the files of ended processes are merged into the own one; a torn
 * last line is ignored. A file that has grown beyond `rewriteBytes` (8 MiB) is written anew with what is still worth
 * keeping. Without a folder the journal lives in memory.
 */
export async function openJournal(
  folder?: string,
  options: { now?: () => number; rewriteBytes?: number } = {},
): Promise<Journal> {
  const now = options.now ?? Date.now;
  const records = new Map<string, JournalRecord>();
  const keepSome = (all: readonly JournalRecord[]) => keepRecent(all, now());
  const file = folder === undefined ? undefined : await JournalFile.open(folder, keepSome, options);
  /** The few that are looked for by fingerprint, at every call. */
  const unanswered = new Map<string, JournalRecord>();
  const keep = (record: JournalRecord) => {
    const key = toMapKey(record);
    records.delete(key);
    records.set(key, record);
    if (leavesDoubt(record)) unanswered.set(key, record);
    else unanswered.delete(key);
  };
  for (const record of file?.records ?? []) keep(record);
  const find = (key: JournalKey) => {
    const own = records.get(toMapKey(key));
    const other = file?.others.find(key);
    return own !== undefined && other !== undefined ? chooseRecord(other, own) : (own ?? other);
  };
  const findUnanswered = (fingerprint: string, isKnown: IsKnown = () => false) => {
    const own = [...unanswered.values()].filter((record) => isEqualTo(record, fingerprint));
    const all = [...own, ...(file?.others.listUnanswered(fingerprint) ?? [])];
    return all.map((record) => find(record) ?? record).find((record) => leavesDoubt(record) && !isKnown(record));
  };
  const write = async (record: JournalRecord) => {
    await file?.append(record);
    keep(record);
    dropOldest(records);
  };
  const forget = async (key: JournalKey) => {
    if (!records.has(toMapKey(key))) return;
    await file?.append({ callId: key.callId, fingerprint: key.fingerprint, forgotten: true });
    records.delete(toMapKey(key));
    unanswered.delete(toMapKey(key));
  };
  return {
    damagedLines: file?.damagedLines ?? 0,
    refresh: async () => file?.refresh(),
    find,
    findUnanswered,
    record: write,
    begin: createBegin(folder, { file, findUnanswered, write, forget }),
    forget,
    close: async () => file?.close(),
  };
}

/**
 * A clock that was set forward must not make anything old: answered records are measured by the newest one, not by the
 * time of day alone, and unanswered ones go by their number only.
 */
function keepRecent(records: readonly JournalRecord[], now: number): JournalRecord[] {
  const latest = records.reduce((max, { at }) => Math.max(max, at), Number.NEGATIVE_INFINITY);
  const from = Math.min(now, latest) - KEEP_MS;
  const newestFirst = records.filter((record) => isUnanswered(record) || record.at > from).sort((a, b) => b.at - a.at);
  const unanswered = newestFirst.filter(isUnanswered).slice(0, MAX_RECORDS);
  const answered = newestFirst.filter((one) => !isUnanswered(one)).slice(0, MAX_RECORDS - unanswered.length);
  const kept = new Set([...unanswered, ...answered]);
  return records.filter((record) => kept.has(record));
}

function dropOldest(records: Map<string, JournalRecord>): void {
  if (records.size <= MAX_RECORDS) return;
  for (const [key, record] of records) {
    if (isUnanswered(record)) continue;
    records.delete(key);
    return;
  }
}
