import { createFingerprint } from "../ask/fingerprint.ts";
import type { ApprovalRequest } from "../ask/request.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { beginCall, type CallJournal } from "../journal/journal.ts";
import {
  hasLeft,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  type JournalState,
  toMapKey,
} from "../journal/journal-record.ts";
import type { ToolOutcome } from "../outcome.ts";
import type { CallPlan, Pipeline, ToolCall } from "../pipeline.ts";
import { findGivenConnection } from "./choose-connection.ts";
import { fingerprintRequest } from "./plan-call.ts";
import { retireKey } from "./send-keyed.ts";

/** What the journal knows and is told about one call. Plain reads are never saved. */
export interface CallRecord {
  readonly key: JournalKey;
  readonly known: JournalRecord | undefined;
  /** The decision of a human that the call rests on now; undefined where a standing permission counts. */
  readonly approval: JournalRecord["approval"];
  /** Equal calls under other ids that were sent and never answered. */
  readonly doubts: DoubtList;
  /**
   * Durable once it resolves. `approved` without a fingerprint: allowed by a standing permission, which counts only while
   * it stands. Throws when it cannot be written.
   */
  save(state: "pending" | "approved", change?: RecordChange): Promise<void>;
  /**
   * Says that the plan is going to be sent; nothing may be sent before. Returns what is in the way, and nothing may be
   * sent then: this call, sent by another process, or an equal one that no human was told of, which is a doubt now.
   */
  begin(
    state: "probing" | "sending",
    plan: CallPlan,
    repeatable: JournalRecord["repeatable"],
  ): Promise<JournalRecord | undefined>;
  /** Takes back a `begin` after which nothing was run: the call may be made again, and no equal one is warned of it. */
  withdraw(): Promise<void>;
  /** Records how the call ended. */
  finish(outcome: ToolOutcome): Promise<ToolOutcome>;
}

/** What a new state brings along. */
interface RecordChange {
  /** What a human is asked. */
  readonly request?: ApprovalRequest | undefined;
  /** Fingerprint that was agreed to; another one than the request's after an edit. */
  readonly approved?: string | undefined;
}

/** The key of a call: what the caller asked for, not what became of it on the way. */
export function createCallKey(
  pipeline: Pipeline,
  call: ToolCall,
  subject: { readonly entry: CatalogEntry; readonly args: Record<string, unknown> },
): JournalKey {
  const { entry, args } = subject;
  const { principal } = pipeline.client;
  const connection = findGivenConnection(call, entry);
  const fingerprint = createFingerprint({ tool: entry.name, arguments: args, connection, files: [], principal });
  return { callId: call.callId, fingerprint };
}

/** Opens the record of a call in the journal its runtime brought along, else in the session's. */
export async function openCallRecord(
  pipeline: Pipeline,
  call: ToolCall,
  entry: CatalogEntry,
  key: JournalKey,
): Promise<CallRecord> {
  const journal: CallJournal = call.journal ?? pipeline.journal;
  // Plain reads are never in it.
  if (entry.effect !== "read" || entry.needsConfirmation === true) await journal.refresh?.();
  const known: JournalRecord | undefined = await journal.find(key);
  const doubts = new DoubtList(journal, key);
  if (known === undefined || !hasLeft(known)) await doubts.look(key.fingerprint);
  const seen: JournalRecord[] = known === undefined ? [] : [known];
  let last: JournalRecord | undefined = known;
  let asked = known?.approval;
  const describe = (state: JournalState): JournalRecord => {
    const approval = asked === undefined ? {} : { approval: asked };
    return { ...key, state, at: pipeline.now(), tool: entry.name, ...approval };
  };
  return {
    key,
    known,
    get approval() {
      return asked;
    },
    doubts,
    async save(state, { request, approved } = {}) {
      asked = toApproval(request ?? (approved === undefined && state === "approved" ? undefined : asked), approved);
      last = describe(state);
      seen.push(last);
      await journal.record(last);
    },
    async begin(state, plan, repeatable) {
      const request = fingerprintRequest(pipeline, plan);
      const record = { ...describe(state), request, ...(repeatable === undefined ? {} : { repeatable }) };
      const isKnown = (other: JournalRecord) => plan.entry.effect === "read" || doubts.has(other);
      const obstacle = await beginCall(journal, record, { known: seen, isKnown });
      if (obstacle === undefined) last = record;
      if (obstacle === undefined || toMapKey(obstacle) === toMapKey(key)) seen.push(obstacle ?? record);
      else doubts.add(obstacle);
      return obstacle;
    },
    async withdraw() {
      if (last !== undefined) await journal.forget(last);
    },
    async finish(outcome) {
      if (last === undefined || outcome.status === "unknown") return outcome;
      const comesAgain = mayComeAgain(outcome, last);
      // Any other call is answered from the journal, or by the service under the same key.
      if (comesAgain && last.repeatable !== undefined) retireKey(pipeline, last.repeatable.key);
      const settled = { ...key, state: "done" as const, at: pipeline.now(), tool: entry.name, outcome };
      const sent = last;
      return keepOutcome(outcome, async () => {
        await (comesAgain ? journal.forget(sent) : journal.record(settled));
        const hasEnded = outcome.status === "succeeded" || outcome.status === "failed";
        if (hasEnded && !comesAgain) await doubts.settle(sent, pipeline.now());
      });
    },
  };
}

function toApproval(
  asked: JournalRecord["approval"] | ApprovalRequest,
  approved: string | undefined,
): JournalRecord["approval"] {
  return asked && { id: asked.id, fingerprint: approved ?? asked.fingerprint, expiresAt: asked.expiresAt };
}

/** True when the call provably did nothing, or the service asked for another try. */
function mayComeAgain(outcome: ToolOutcome, last: JournalRecord): boolean {
  if (outcome.status === "needs_approval" || outcome.status === "needs_connection") return true;
  return outcome.status === "failed" && (outcome.retryable === true || !isUnanswered(last));
}

/** `outcome` once `write` has put it down. What was done stays told when that fails; a note says that it failed. */
async function keepOutcome<T extends { readonly notes: readonly string[] }>(
  outcome: T,
  write: () => Promise<void>,
): Promise<T> {
  try {
    await write();
    return outcome;
  } catch {
    const note = "the end of this call could not be written to the journal";
    return { ...outcome, notes: [...outcome.notes, note] };
  }
}

/** Calls equal to one, under other ids, that were sent and never answered: a human is told of them before it is sent. */
export class DoubtList {
  readonly #journal: CallJournal;
  readonly #key: JournalKey;
  readonly #found = new Map<string, JournalRecord>();

  constructor(journal: CallJournal, key: JournalKey) {
    this.#journal = journal;
    this.#key = key;
  }

  get isEmpty(): boolean {
    return this.#found.size === 0;
  }

  /** Names them all, whatever the order they were found in. */
  get names(): readonly string[] {
    return [...this.#found.keys()].sort();
  }

  has(record: JournalRecord): boolean {
    return this.#found.has(toDoubtKey(record));
  }

  add(record: JournalRecord): void {
    this.#found.set(toDoubtKey(record), record);
  }

  /** Looks again for those with this fingerprint, or that were sent as a call with it would be; true when there are new ones. */
  async look(fingerprint: string): Promise<boolean> {
    const before = this.#found.size;
    const self = toMapKey(this.#key);
    const isKnown = (record: JournalRecord) => toMapKey(record) === self || this.has(record);
    for (;;) {
      const record = await this.#journal.findUnanswered(fingerprint, isKnown);
      // A journal may answer with one that is known.
      if (record === undefined || isKnown(record)) return this.#found.size > before;
      this.add(record);
    }
  }

  /**
   * A human was told of them, `sent` was sent all the same and has ended: the next equal call need not be asked about
   * because of those that are equal to what was sent.
   */
  async settle(sent: JournalRecord, now: number): Promise<void> {
    for (const record of this.#found.values()) {
      const isEqual =
        record.request === undefined ? record.fingerprint === sent.fingerprint : record.request === sent.request;
      if (isEqual) await this.#journal.record({ ...record, warnedAt: now });
    }
  }
}

/** A call that was refused and made again under its id has begun anew: whoever was told of the first is not told of it. */
function toDoubtKey(record: JournalRecord): string {
  return `${toMapKey(record)} ${record.at}`;
}
