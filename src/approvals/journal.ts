import { JournalFile } from "./journal-file.ts";
import { isUnanswered, type JournalKey, type JournalRecord, toMapKey } from "./journal-record.ts";

type Awaitable<T> = T | Promise<T>;

/** Remembers calls that may act, so that a crash or a re-run never sends one twice. */
export interface CallJournal {
  /** State of this call, or undefined when it is new. */
  find(key: JournalKey): Awaitable<JournalRecord | undefined>;
  /** A call with the same fingerprint, whatever its id, that was sent and never answered. */
  findUnanswered(fingerprint: string): Awaitable<JournalRecord | undefined>;
  /** Resolves once the record would survive a power cut. */
  record(record: JournalRecord): Promise<void>;
  /** Drops a call that provably did nothing, so that it may be made again. */
  forget(key: JournalKey): Promise<void>;
}

/** The journal of this machine: in memory, or in memory and on disk. */
export interface Journal extends CallJournal {
  find(key: JournalKey): JournalRecord | undefined;
  findUnanswered(fingerprint: string): JournalRecord | undefined;
  /** Lines that could not be read at opening. */
  readonly damagedLines: number;
  close(): Promise<void>;
}

/** Records older than this are dropped at opening; unanswered ones are kept four times as long. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1_000;
const MEMORY_RECORDS = 10_000;

/**
 * Opens the journal in `folder` (created 0700): one append-only file of JSON lines per process, mode 0600, each record
 * synced to disk before `record` resolves. At opening the files of ended processes are merged into the own one; a torn
 * last line is ignored. Without a folder the journal lives in memory.
 */
export async function openJournal(folder?: string, options: { now?: () => number } = {}): Promise<Journal> {
  const now = options.now ?? Date.now;
  const records = new Map<string, JournalRecord>();
  const file = folder === undefined ? undefined : await JournalFile.open(folder, (all) => keepRecent(all, now()));
  for (const record of file?.records ?? []) records.set(toMapKey(record), record);
  return {
    damagedLines: file?.damagedLines ?? 0,
    find: (key) => records.get(toMapKey(key)),
    findUnanswered: (fingerprint) =>
      [...records.values()].find((item) => item.fingerprint === fingerprint && isUnanswered(item)),
    async record(record) {
      await file?.append(record);
      records.delete(toMapKey(record));
      records.set(toMapKey(record), record);
      dropOldest(records);
    },
    async forget(key) {
      if (!records.has(toMapKey(key))) return;
      await file?.append({ callId: key.callId, fingerprint: key.fingerprint, forgotten: true });
      records.delete(toMapKey(key));
    },
    close: async () => file?.close(),
  };
}

function keepRecent(records: readonly JournalRecord[], now: number): JournalRecord[] {
  return records.filter((record) => now - record.at < (isUnanswered(record) ? 4 * KEEP_MS : KEEP_MS));
}

function dropOldest(records: Map<string, JournalRecord>): void {
  if (records.size <= MEMORY_RECORDS) return;
  for (const [key, record] of records) {
    if (isUnanswered(record)) continue;
    records.delete(key);
    return;
  }
}
