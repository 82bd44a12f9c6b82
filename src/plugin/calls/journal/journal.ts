import type { StatementSync } from "node:sqlite";
import { parseJson } from "../../../shared/base/json.ts";
import { SvcError } from "../../../shared/errors.ts";
import {
  type BeginTerms,
  type IsKnown,
  isEqualTo,
  isOtherOfAccount,
  isOvertaken,
  isStep,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  listFingerprints,
  needsWarning,
  outranks,
  readJournalRecord,
  STEP,
} from "./journal-record.ts";

import { isUnderWay } from "./sender.ts";

/** The SQLite file of a state folder: journal of calls, standing permissions and chosen accounts. */
export interface StateFile {
  /** A statement that is prepared once. A read sees every change that any process has finished. */
  prepare(sql: string): StatementSync;
  /**
   * Runs `work` while no other process writes. Resolves once its change would survive a power cut; changes of callers at
   * the same time share one transaction. `work` must write with its last statement only: one that throws wrote nothing.
   */
  change<T>(work: () => T): Promise<T>;
  /** Finishes the changes that wait and closes the file. */
  close(): void;
}

type Awaitable<T> = T | Promise<T>;

/** Text that is the same for equal keys only, for a `Map`. */
export function toMapKey(key: JournalKey): string {
  return `${key.fingerprint} ${key.callId}`;
}

/** Remembers calls that may act, so that a crash or a re-run never sends one twice. */
export interface CallJournal {
  find(key: JournalKey): Awaitable<JournalRecord | undefined>;
  /**
   * A call with the same fingerprint, or whose request had it, whatever its id, that was sent and never answered, and that
   * nobody was warned of. `isKnown` leaves out such as the caller has found before.
   */
  findUnanswered(fingerprint: string, isKnown?: IsKnown): Awaitable<JournalRecord | undefined>;
  /** A call with the same fingerprint, whatever its id, that waits for the owner of the service. */
  findHeld?(fingerprint: string): JournalRecord | undefined;
  /**
   * Records that a request leaves, unless something is in its way: this call, sent by another process since `known`, an
   * equal one for which `isKnown` is false, or one that is under way on the same account. That one is returned, and nothing recorded. No other process that uses the
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

/** The journal of a session: look-ups answer at once, and `begin` is always there. */
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
 * first; steps of graphs are counted by themselves. No record is dropped before the approval it rests on has expired.
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
      calls.listUnanswered(fingerprint).find((record) => !isKnown(record)),
    findHeld: (fingerprint) => calls.listPending(fingerprint).find(({ held }) => held !== undefined),
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
  const equal = listFingerprints(record)
    .flatMap((fingerprint) => calls.listUnanswered(fingerprint))
    .find(isOther);
  if (equal !== undefined || record.account === undefined) return equal;
  return calls.listOnAccount(record.account).find((other) => isOtherOfAccount(other, record) && isUnderWay(other));
}

/** Begins a call; see `CallJournal.begin`. With a journal that cannot do both at once it looks first and records then. */
export async function beginCall(
  journal: CallJournal,
  record: JournalRecord,
  terms: BeginTerms,
): Promise<JournalRecord | undefined> {
  if (journal.begin !== undefined) return journal.begin(record, terms);
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

interface CallTable {
  find(key: JournalKey): JournalRecord | undefined;
  /** Calls equal to this fingerprint that were sent, not answered, and that nobody was warned of. */
  listUnanswered(fingerprint: string): readonly JournalRecord[];
  listPending(fingerprint: string): readonly JournalRecord[];
  /** Calls on an account that were sent and not answered. */
  listOnAccount(account: string): readonly JournalRecord[];
  put(record: JournalRecord): void;
  /** Takes exactly this record out, not one that came after it. */
  drop(record: JournalRecord): void;
  prune(now: number): void;
}

/** Answered records that are older than the newest one by this are dropped. */
const KEEP_MS = 7 * 24 * 60 * 60 * 1_000;
/** Of more records than these, of calls or of steps, the oldest answered ones are dropped first. */
const MAX_RECORDS = 10_000;

/** A table in memory; it is pruned by number. */
function createHeldCalls(): CallTable {
  const records = new Map<string, JournalRecord>();
  /** The few that are looked for by fingerprint, at every call. */
  const unanswered = new Map<string, JournalRecord>();
  const remove = (key: string) => {
    records.delete(key);
    unanswered.delete(key);
  };
  return {
    find: (key) => records.get(toMapKey(key)),
    listUnanswered: (fingerprint) => [...unanswered.values()].filter((record) => isEqualTo(record, fingerprint)),
    listPending: (fingerprint) =>
      [...records.values()].filter((record) => record.state === "pending" && record.fingerprint === fingerprint),
    listOnAccount: (account) => [...unanswered.values()].filter((record) => record.account === account),
    put(record) {
      const key = toMapKey(record);
      remove(key);
      records.set(key, record);
      if (needsWarning(record)) unanswered.set(key, record);
    },
    drop(record) {
      const found = records.get(toMapKey(record));
      if (found?.state === record.state && found.at === record.at) remove(toMapKey(record));
    },
    prune(now) {
      for (const isOfKind of [isStep, (record: JournalRecord) => !isStep(record)]) {
        const kind = [...records].filter(([, record]) => isOfKind(record));
        const old = kind.slice(0, Math.max(0, kind.length - MAX_RECORDS));
        // The oldest that may go, also where older ones must stay.
        const free = kind.filter(([, record]) => !isUnanswered(record) && !isApprovalOpen(record, now));
        for (const [key] of free.slice(0, old.length)) remove(key);
      }
    },
  };
}

function isApprovalOpen({ approval }: JournalRecord, now: number): boolean {
  return approval !== undefined && now < Date.parse(approval.expiresAt);
}

const UNANSWERED = "state IN ('sending', 'probing')";
/** No approval that a record rests on is still open. ISO times are in order as texts. */
const ENDED = "coalesce(json_extract(record, '$.approval.expiresAt'), '') <= ?";

/** The table `calls` of a state file. */
function createStoredCalls(state: Pick<StateFile, "prepare">): CallTable {
  const find = state.prepare("SELECT record FROM calls WHERE fingerprint = ? AND call_id = ?");
  // Two searches: SQLite would read all unanswered calls for one with "or".
  const searchBy = (column: string) =>
    `SELECT record FROM calls WHERE ${column} = ? AND ${UNANSWERED} AND warned_at IS NULL`;
  const listUnanswered = state.prepare(`${searchBy("fingerprint")} UNION ALL ${searchBy("request")}`);
  const listPending = state.prepare("SELECT record FROM calls WHERE fingerprint = ? AND state = 'pending'");
  const listOnAccount = state.prepare(
    `SELECT record FROM calls INDEXED BY calls_unanswered WHERE ${UNANSWERED} AND json_extract(record, '$.account') = ?`,
  );
  const put = state.prepare(
    `INSERT INTO calls VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET request = excluded.request,
       state = excluded.state, at = excluded.at, warned_at = excluded.warned_at, record = excluded.record`,
  );
  const drop = state.prepare("DELETE FROM calls WHERE fingerprint = ? AND call_id = ? AND state = ? AND at = ?");
  // A clock that was set forward must not make anything old: age is measured by the newest record too.
  const dropOld = state.prepare(
    `DELETE FROM calls WHERE NOT ${UNANSWERED} AND at <= min(?, (SELECT max(at) FROM calls)) - ${KEEP_MS} AND ${ENDED}`,
  );
  const [dropSteps, dropMany] = ["=", "<>"].map((is) => {
    const kind = `fingerprint ${is} '${STEP}'`;
    return state.prepare(
      `DELETE FROM calls WHERE (SELECT count(*) FROM calls WHERE ${kind}) > ${MAX_RECORDS} AND (fingerprint, call_id) IN
         (SELECT fingerprint, call_id FROM calls WHERE ${kind} ORDER BY ${UNANSWERED} DESC, at DESC
            LIMIT -1 OFFSET ${MAX_RECORDS}) AND ${ENDED}`,
    );
  });
  return {
    find: ({ fingerprint, callId }) => {
      const row = find.get(fingerprint, callId);
      return row && readRow(row.record);
    },
    listUnanswered: (fingerprint) => listUnanswered.all(fingerprint, fingerprint).map(({ record }) => readRow(record)),
    listPending: (fingerprint) => listPending.all(fingerprint).map(({ record }) => readRow(record)),
    listOnAccount: (account) => listOnAccount.all(account).map(({ record }) => readRow(record)),
    put(record) {
      const { fingerprint, callId, request = null, state, at, warnedAt = null } = record;
      put.run(fingerprint, callId, request, state, at, warnedAt, JSON.stringify(record));
    },
    drop: ({ fingerprint, callId, state, at }) => void drop.run(fingerprint, callId, state, at),
    prune(now) {
      const time = new Date(now).toISOString();
      dropOld.run(now, time);
      for (const drop of [dropSteps, dropMany]) drop?.run(time);
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
