import { isRecord } from "../../base/json.ts";
import { beginCall, type CallJournal, toMapKey } from "../../calls/journal/journal.ts";
import {
  type BeginTerms,
  chooseRecord,
  hasLeft,
  isOvertaken,
  type JournalRecord,
} from "../../calls/journal/journal-record.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import type { GraphConfig } from "./graph-config.ts";
import { isKeptInProcess } from "./task-state.ts";

/** The calls that runs of one task of a graph have sent; a question of the task carries them to the next run. */
export interface TaskMemory {
  /** By {@link toMapKey}. */
  readonly sent: Map<string, JournalRecord>;
  /** Adds the calls of earlier runs, listed in the task's last question, to `sent`. */
  recall(): Promise<void>;
  /**
   * True when an earlier run that no question records may have sent this call: it ran up to a question of the host,
   * or the approval was given in it.
   */
  mayHaveSent(record: JournalRecord): Promise<boolean>;
}

/** Longest JSON text of an outcome that is carried in a question, which people's browsers load. */
const MAX_OUTCOME = 4_000;

/**
 * The journal of a task's calls: `inner`, and beside it the checkpoint of the graph, in which the last question of the
 * task lists the calls that were sent. A process that knows nothing else then sends nothing twice.
 */
export function createTaskJournal(memory: TaskMemory, inner: CallJournal): CallJournal {
  const { sent } = memory;
  const keep = (record: JournalRecord) => {
    if (hasLeft(record)) sent.set(toMapKey(record), record);
    else sent.delete(toMapKey(record));
  };
  // Under its key it is not asked for again either: when the key was made is not known.
  const assume = async ({ repeatable, ...record }: JournalRecord) => {
    const assumed: JournalRecord = { ...record, state: "sending", isAssumed: true };
    await inner.record(assumed);
    keep(assumed);
    return assumed;
  };
  return {
    async refresh() {
      await memory.recall();
      await inner.refresh?.();
    },
    async find(key) {
      const [own, told] = [await inner.find(key), sent.get(toMapKey(key))];
      return own !== undefined && told !== undefined ? chooseRecord(told, own) : (own ?? told);
    },
    findUnanswered: (fingerprint, isKnown) => inner.findUnanswered(fingerprint, isKnown),
    async begin(record: JournalRecord, terms: BeginTerms) {
      await memory.recall();
      const told = sent.get(toMapKey(record));
      if (isOvertaken(told, terms)) return told;
      const own = await inner.find(record);
      const isKnown = told !== undefined || (own !== undefined && hasLeft(own));
      if (!isKnown && (await memory.mayHaveSent(record))) return assume(record);
      const obstacle = await beginCall(inner, record, terms);
      if (obstacle === undefined) keep(record);
      return obstacle;
    },
    async record(record) {
      await inner.record(record);
      keep(record);
    },
    async forget(record) {
      await inner.forget(record);
      sent.delete(toMapKey(record));
    },
  };
}

/** The record as a question carries it: plain JSON, without a result that is too long. */
export function toCarriedRecord(record: JournalRecord): Record<string, unknown> {
  const value: unknown = JSON.parse(JSON.stringify(record));
  if (!isRecord(value)) return {};
  const { outcome } = value;
  if (!isRecord(outcome) || JSON.stringify(outcome).length <= MAX_OUTCOME) return value;
  const { status, toolName, code, notes } = outcome;
  const note = "the result was too long to be kept with the question that came after it";
  const kept = Array.isArray(notes) && JSON.stringify(notes).length <= MAX_OUTCOME ? notes : [];
  return { ...value, outcome: { status, toolName, code, notes: [...kept, note] } };
}

/** Told to the host once, when a run that can be resumed elsewhere makes its first call that may act. */
type WritesNotRemembered = Extract<SessionEvent, { type: "writes_not_remembered" }>;

/**
 * Says once that a graph outlives the journal of its calls: its checkpointer keeps the conversation, and there is neither
 * a state folder nor a store. Without `tell` the process is warned.
 */
export function createMemoryWarning(
  tell: (event: WritesNotRemembered) => void = warnOnce,
): (config: GraphConfig) => void {
  let isTold = false;
  return (config) => {
    if (isTold || isKeptInProcess(config)) return;
    isTold = true;
    tell({ type: "writes_not_remembered" });
  };
}

let isWarned = false;

/** Once in a process, however many toolkits it makes. */
function warnOnce(): void {
  if (isWarned) return;
  isWarned = true;
  const text =
    "This graph has a checkpointer, but what its tools send is remembered by this process only. After a crash, or when two processes resume one thread at once, an approved call can be sent twice. Give SvcToolkit.create a stateDir, or the graph a store.";
  process.emitWarning(text, { type: "SvcWarning", code: "SVC_WRITES_NOT_REMEMBERED" });
}
