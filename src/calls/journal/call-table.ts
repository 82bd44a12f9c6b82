import type { DatabaseSync } from "node:sqlite";
import { parseJson } from "../../base/json.ts";
import { SvcError } from "../../errors.ts";
import {
  isEqualTo,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  leavesDoubt,
  readJournalRecord,
  toMapKey,
} from "./journal-record.ts";

/** The last record of each call. */
export interface CallTable {
  find(key: JournalKey): JournalRecord | undefined;
  /** Calls equal to this fingerprint that were sent, not answered, and that nobody was warned of. */
  listDoubts(fingerprint: string): readonly JournalRecord[];
  /** Replaces the record of this call. */
  put(record: JournalRecord): void;
  /** Takes exactly this record out, not one that came after it. */
  drop(record: JournalRecord): void;
  /** Takes out records that are too old or too many. */
  prune(now: number): void;
}

/** Answered records that are older than the newest one by this are dropped. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1_000;
/** Of more records than these, the oldest answered ones are dropped first. */
const MAX_RECORDS = 10_000;

/** A table in memory; it is pruned by number at every record. */
export function createHeldCalls(): CallTable {
  const records = new Map<string, JournalRecord>();
  /** The few that are looked for by fingerprint, at every call. */
  const doubts = new Map<string, JournalRecord>();
  const remove = (key: string) => {
    records.delete(key);
    doubts.delete(key);
  };
  const dropOldest = () => {
    for (const [key, record] of records) {
      if (isUnanswered(record)) continue;
      remove(key);
      return;
    }
  };
  return {
    find: (key) => records.get(toMapKey(key)),
    listDoubts: (fingerprint) => [...doubts.values()].filter((record) => isEqualTo(record, fingerprint)),
    put(record) {
      const key = toMapKey(record);
      remove(key);
      records.set(key, record);
      if (leavesDoubt(record)) doubts.set(key, record);
      if (records.size > MAX_RECORDS) dropOldest();
    },
    drop(record) {
      const found = records.get(toMapKey(record));
      if (found?.state === record.state && found.at === record.at) remove(toMapKey(record));
    },
    prune: () => undefined,
  };
}

const UNANSWERED = "state IN ('sending', 'probing')";

/** The table `calls` of a state file. */
export function createStoredCalls(state: Pick<DatabaseSync, "prepare">): CallTable {
  const find = state.prepare("SELECT record FROM calls WHERE fingerprint = ? AND call_id = ?");
  // Two searches: SQLite would read all unanswered calls for one with "or".
  const doubts = (column: string) =>
    `SELECT record FROM calls WHERE ${column} = ? AND ${UNANSWERED} AND warned_at IS NULL`;
  const listDoubts = state.prepare(`${doubts("fingerprint")} UNION ALL ${doubts("request")}`);
  const put = state.prepare(
    `INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request,
       state = excluded.state, at = excluded.at, warned_at = excluded.warned_at, record = excluded.record`,
  );
  const drop = state.prepare("DELETE FROM calls WHERE fingerprint = ? AND call_id = ? AND state = ? AND at = ?");
  // A clock that was set forward must not make anything old: age is measured by the newest record too.
  const dropOld = state.prepare(
    `DELETE FROM calls WHERE NOT ${UNANSWERED} AND at <= min(?, (SELECT max(at) FROM calls)) - ${KEEP_MS}`,
  );
  const dropMany = state.prepare(
    `DELETE FROM calls WHERE (SELECT count(*) FROM calls) > ${MAX_RECORDS} AND rowid IN
       (SELECT rowid FROM calls ORDER BY ${UNANSWERED} DESC, at DESC LIMIT -1 OFFSET ${MAX_RECORDS})`,
  );
  return {
    find: ({ fingerprint, callId }) => {
      const row = find.get(fingerprint, callId);
      return row && readRow(row.record);
    },
    listDoubts: (fingerprint) => listDoubts.all(fingerprint, fingerprint).map(({ record }) => readRow(record)),
    put(record) {
      const { fingerprint, callId, request = null, state, at, warnedAt = null } = record;
      put.run(fingerprint, callId, request, state, at, warnedAt, JSON.stringify(record));
    },
    drop: ({ fingerprint, callId, state, at }) => void drop.run(fingerprint, callId, state, at),
    prune(now) {
      dropOld.run(now);
      dropMany.run();
    },
  };
}

/** A record that cannot be read may be of a call that was sent: it is never left out. */
function readRow(text: unknown): JournalRecord {
  const record = readJournalRecord(parseJson(String(text)));
  if (record !== undefined) return record;
  throw new SvcError("invalid_config", "A record of state.db in the state folder cannot be read.", {
    field: "stateDir",
    hint: "The file is damaged. Look in the apps for the latest writes, move the file away and start again.",
  });
}
