import type { ApprovalRequest } from "../ask/request.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import type { ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import { beginCall, type CallJournal } from "./journal.ts";
import {
  hasLeft,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  type JournalState,
  toMapKey,
} from "./journal-record.ts";

/** What the journal knows and is told about one call. Plain reads are never saved. */
export interface CallRecord {
  readonly key: JournalKey;
  readonly known: JournalRecord | undefined;
  /** The decision of a human that the call rests on now; undefined where a standing permission counts. */
  readonly approval: JournalRecord["approval"];
  /** Equal calls under other ids that were sent and never answered. */
  readonly duplicates: UnansweredDuplicates;
  /**
   * Durable once it resolves. `approved` without a fingerprint: allowed by a standing permission, which counts only while
   * it stands. Throws when it cannot be written.
   */
  save(state: "pending" | "approved", change?: RecordChange): Promise<void>;
  /**
   * Says that the request is going to be sent; nothing may be sent before. Returns what is in the way, and nothing may be
   * sent then: this call, sent by another process, or an equal one that no human was told of, which is a duplicate now.
   */
  begin(state: "probing" | "sending", request: LeavingRequest): Promise<JournalRecord | undefined>;
  /** Takes back a `begin` after which nothing was run: the call may be made again, and no equal one is warned of it. */
  withdraw(): Promise<void>;
  /** Records how the call ended. */
  finish(outcome: ToolOutcome): Promise<ToolOutcome>;
}

/** A request that is going to be sent. */
interface LeavingRequest {
  /** Fingerprint of what is sent. */
  readonly request: string;
  /** True for a read: an equal call without an answer does not matter. */
  readonly isRead: boolean;
  readonly repeatable: JournalRecord["repeatable"];
}

/** What a new state brings along. */
interface RecordChange {
  /** What a human is asked. */
  readonly request?: ApprovalRequest | undefined;
  /** Fingerprint that was agreed to; another one than the request's after an edit. */
  readonly approved?: string | undefined;
}

/** Opens the record of a call. */
export async function openCallRecord(
  { journal, now, endedKeys }: Pick<Pipeline, "now" | "endedKeys"> & { readonly journal: CallJournal },
  entry: CatalogEntry,
  key: JournalKey,
): Promise<CallRecord> {
  // Plain reads are never in it.
  if (entry.effect !== "read" || entry.needsConfirmation === true) await journal.refresh?.();
  const known: JournalRecord | undefined = await journal.find(key);
  const duplicates = new UnansweredDuplicates(journal, key);
  if (known === undefined || !hasLeft(known)) await duplicates.find(key.fingerprint);
  const seen: JournalRecord[] = known === undefined ? [] : [known];
  let last: JournalRecord | undefined = known;
  let asked = known?.approval;
  const describe = (state: JournalState): JournalRecord => {
    const approval = asked === undefined ? {} : { approval: asked };
    return { ...key, state, at: now(), tool: entry.name, ...approval };
  };
  return {
    key,
    known,
    get approval() {
      return asked;
    },
    duplicates,
    async save(state, { request, approved } = {}) {
      asked = toApproval(request ?? (approved === undefined && state === "approved" ? undefined : asked), approved);
      last = describe(state);
      seen.push(last);
      await journal.record(last);
    },
    async begin(state, { request, isRead, repeatable }) {
      const record = { ...describe(state), request, ...(repeatable === undefined ? {} : { repeatable }) };
      const isKnown = (other: JournalRecord) => isRead || duplicates.has(other);
      const obstacle = await beginCall(journal, record, { known: seen, isKnown });
      if (obstacle === undefined) last = record;
      if (obstacle === undefined || toMapKey(obstacle) === toMapKey(key)) seen.push(obstacle ?? record);
      else duplicates.add(obstacle);
      return obstacle;
    },
    async withdraw() {
      if (last !== undefined) await journal.forget(last);
    },
    async finish(outcome) {
      if (last === undefined || outcome.status === "unknown") return outcome;
      const comesAgain = mayComeAgain(outcome, last);
      // Any other call is answered from the journal, or by the service under the same key.
      if (comesAgain && last.repeatable !== undefined) retireKey(endedKeys, last.repeatable.key);
      const sent = last;
      try {
        await (comesAgain
          ? journal.forget(sent)
          : journal.record({ ...key, state: "done", at: now(), tool: entry.name, outcome }));
        const hasEnded = outcome.status === "succeeded" || outcome.status === "failed";
        if (hasEnded && !comesAgain) await duplicates.markWarned(sent, now());
        return outcome;
      } catch {
        // What was done stays told.
        const note = "the end of this call could not be written to the journal";
        return { ...outcome, notes: [...outcome.notes, note] };
      }
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

/** The idempotency key of the call with this hash: the same each time, until {@link retireKey} is told of it. */
export function createKey(endedKeys: ReadonlyMap<string, number>, hash: string): string {
  const ended = endedKeys.get(hash) ?? 0;
  return ended === 0 ? `plugin-${hash}` : `plugin-${hash}-${ended}`;
}

/** Notes that the execution behind a key is over, so that another try of the call is another execution. */
function retireKey(endedKeys: Map<string, number>, key: string): void {
  const hash = key.replace(/^plugin-/, "").replace(/-\d+$/, "");
  endedKeys.set(hash, (endedKeys.get(hash) ?? 0) + 1);
}

/** Calls equal to one, under other ids, that were sent and never answered: a human is told of them before it is sent. */
export class UnansweredDuplicates {
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
    return this.#found.has(toDuplicateKey(record));
  }

  add(record: JournalRecord): void {
    this.#found.set(toDuplicateKey(record), record);
  }

  /** Looks for those with this fingerprint, or that were sent as a call with it would be; true when there are new ones. */
  async find(fingerprint: string): Promise<boolean> {
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
  async markWarned(sent: JournalRecord, now: number): Promise<void> {
    for (const record of this.#found.values()) {
      const isEqual =
        record.request === undefined ? record.fingerprint === sent.fingerprint : record.request === sent.request;
      if (isEqual) await this.#journal.record({ ...record, warnedAt: now });
    }
  }
}

/** A call that was refused and made again under its id is another duplicate than the first one. */
function toDuplicateKey(record: JournalRecord): string {
  return `${toMapKey(record)} ${record.at}`;
}
