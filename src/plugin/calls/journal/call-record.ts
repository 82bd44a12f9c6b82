import type { ApprovalRequest } from "../ask/request.ts";
import type { CatalogEntry } from "../catalog/catalog-entry.ts";
import { AWAITING_OWNER, type ToolOutcome } from "../outcome.ts";
import type { Pipeline } from "../pipeline.ts";
import { beginCall, type CallJournal, toMapKey } from "./journal.ts";
import {
  hasLeft,
  isOtherOfAccount,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  type JournalState,
} from "./journal-record.ts";
import { THIS_PROCESS } from "./sender.ts";

/** The journal's view of one call. Plain reads are never saved. */
export interface CallRecord {
  readonly key: JournalKey;
  readonly known: JournalRecord | undefined;
  /** The human decision the call currently relies on; undefined under a standing permission. */
  readonly approval: JournalRecord["approval"];
  /** Duplicates under other ids that were sent and never answered. */
  readonly duplicates: UnansweredDuplicates;
  /** True if a human said yes to this request and nothing was sent since, as far as this journal knows. */
  isGranted(id: string): boolean;
  /** Changes become durable with the next `save`. */
  readonly marks: CallMarks;
  /** When the request left that has no answer, else now, in milliseconds since the epoch. */
  readonly begunAt: number;
  /** True while a request of this run that may act has no answer. */
  readonly isUnderWay: boolean;
  /** Notes a yes to a request, given after a failure on the account; the next `save` makes it durable. */
  grant(id: string, after: string): void;
  /**
   * Durable once it resolves. `approved` without a fingerprint: allowed by a standing permission, which counts only while
   * it stands. Throws when it cannot be written.
   */
  save(state: "pending" | "approved", change?: RecordChange): Promise<void>;
  /**
   * Records that the request is about to be sent; call it before sending. If it returns a record, do not send: either
   * another process sent this call, or the record is a duplicate that no human was told of, or another call that is
   * under way on the same account.
   */
  begin(state: "probing" | "sending", request: LeavingRequest): Promise<JournalRecord | undefined>;
  /** Reverts a `begin` when nothing was run: the call may be made again, and duplicates get no warning of it. What a human
   * said yes to stays. */
  withdraw(): Promise<void>;
  /** Notes that nobody waits for the answer of the request that was sent. */
  abandon(): Promise<void>;
  finish(outcome: ToolOutcome): Promise<ToolOutcome>;
}

/** What a human was asked and has answered, in a runtime that keeps answers. */
interface CallMarks {
  /** Requests that they said yes to, while nothing was sent: ids. */
  granted: readonly string[];
  /** Stamp of the last failure on the account when they last said yes, "" for none; undefined if they never did. */
  grantedAfter: string | undefined;
  /** Stamp of the failure on its account after which the call is asked about anew. */
  askedAfter: string | undefined;
}

interface LeavingRequest {
  readonly request: string;
  readonly account: string | undefined;
  /** True for a read: its unanswered duplicates do not matter. */
  readonly isRead: boolean;
  readonly repeatable: JournalRecord["repeatable"];
}

interface RecordChange {
  readonly request?: ApprovalRequest | undefined;
  /** The approved fingerprint; after an edit it differs from the request's. */
  readonly approved?: string | undefined;
  /** The approval that the service holds. */
  readonly held?: string | undefined;
}

/** Looks a call and its unanswered duplicates up in the journal. Nothing is written before `save` or `begin`. */
export async function openCallRecord(
  { journal, now, endedKeys }: Pick<Pipeline, "now" | "endedKeys"> & { readonly journal: CallJournal },
  entry: CatalogEntry,
  key: JournalKey,
): Promise<CallRecord> {
  const known: JournalRecord | undefined = await journal.find(key);
  const duplicates = new UnansweredDuplicates(journal, key);
  if (known === undefined || !hasLeft(known)) await duplicates.find(key.fingerprint);
  const seen: JournalRecord[] = known === undefined ? [] : [known];
  let last: JournalRecord | undefined = known;
  let asked = known?.approval;
  let isOut = false;
  const marks = readMarks(known);
  const describe = (state: JournalState): JournalRecord => {
    const { askedAfter } = marks;
    const kept = { ...(asked && { approval: asked }), ...(askedAfter && { askedAfter }) };
    return { ...key, state, at: now(), tool: entry.name, ...kept };
  };
  const describeUnsent = (state: "pending" | "approved"): JournalRecord =>
    marks.granted.length === 0 ? describe(state) : { ...describe(state), ...marks };
  const put = (record: JournalRecord) => {
    last = record;
    seen.push(record);
    return journal.record(record);
  };
  const abandon = async () => {
    if (isOut && last !== undefined) await noteLost(journal, last);
    isOut = false;
  };
  return {
    key,
    known,
    get approval() {
      return asked;
    },
    duplicates,
    marks,
    isGranted: (id) => marks.granted.includes(id),
    get begunAt() {
      return last !== undefined && isUnanswered(last) ? last.at : now();
    },
    get isUnderWay() {
      return isOut;
    },
    grant(id, after) {
      marks.granted = [...marks.granted, id];
      marks.grantedAfter = after;
    },
    async save(state, { request, approved, held } = {}) {
      asked = toApproval(request ?? (approved === undefined && state === "approved" ? undefined : asked), approved);
      // A changed mind: the decline before it would outrank the yes.
      if (marks.granted.length > 0 && last?.state === "done") await journal.forget(last);
      await put({ ...describeUnsent(state), ...(held === undefined ? {} : { held }) });
    },
    async begin(state, { request, account, isRead, repeatable }) {
      const sending = { request, ...(account === undefined ? {} : { account }), sender: THIS_PROCESS };
      const record = { ...describe(state), ...sending, ...(repeatable === undefined ? {} : { repeatable }) };
      const isKnown = (other: JournalRecord) => isRead || duplicates.has(other);
      const obstacle = await beginCall(journal, record, { known: seen, isKnown });
      if (obstacle === undefined) [last, isOut] = [record, true];
      if (obstacle === undefined || toMapKey(obstacle) === toMapKey(key)) seen.push(obstacle ?? record);
      else if (!isOtherOfAccount(obstacle, record)) duplicates.add(obstacle);
      return obstacle;
    },
    async withdraw() {
      isOut = false;
      if (last !== undefined) await journal.forget(last);
      if (marks.granted.length > 0) await put(describeUnsent("pending"));
    },
    abandon,
    async finish(outcome) {
      // A call that waits for the owner continues when it is made again.
      const isWaiting = outcome.code === AWAITING_OWNER;
      if (outcome.status === "unknown") await abandon();
      if (last === undefined || outcome.status === "unknown" || isWaiting) return outcome;
      isOut = false;
      return writeEnd({ journal, duplicates, now, endedKeys }, last, { ...describe("done"), outcome });
    },
  };
}

/** Where it cannot be written, whoever makes the same call waits longer, and hears the same. */
async function noteLost(journal: CallJournal, sent: JournalRecord): Promise<void> {
  await journal.record({ ...sent, isLost: true }).catch(() => undefined);
}

function readMarks(known: JournalRecord | undefined): CallMarks {
  const { granted = [], grantedAfter } = known === undefined || hasLeft(known) ? {} : known;
  return { granted, grantedAfter, askedAfter: known?.askedAfter };
}

interface EndParts extends Pick<Pipeline, "now" | "endedKeys">, Pick<CallRecord, "duplicates"> {
  readonly journal: CallJournal;
}

/** Writes how a call ended: `done`, or nothing where it may come again. */
async function writeEnd(
  { journal, duplicates, now, endedKeys }: EndParts,
  sent: JournalRecord,
  done: JournalRecord & { readonly outcome: ToolOutcome },
): Promise<ToolOutcome> {
  const { outcome } = done;
  const comesAgain = mayComeAgain(outcome, sent);
  // All other calls are answered from the journal, or by the service under the same key.
  if (comesAgain && sent.repeatable !== undefined) retireKey(endedKeys, sent.repeatable.key);
  try {
    await (comesAgain ? journal.forget(sent) : journal.record(done));
    const hasEnded = outcome.status === "succeeded" || outcome.status === "failed";
    if (hasEnded && !comesAgain) await duplicates.markWarned(sent, now());
    return outcome;
  } catch {
    // What was done stays told.
    const note = "the end of this call could not be written to the journal";
    return { ...outcome, notes: [...outcome.notes, note] };
  }
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

/** The idempotency key of the call with this hash: stable until {@link retireKey} ends it. */
export function createKey(endedKeys: ReadonlyMap<string, number>, hash: string): string {
  const ended = endedKeys.get(hash) ?? 0;
  return ended === 0 ? `plugin-${hash}` : `plugin-${hash}-${ended}`;
}

/** Records that the execution behind a key has ended, so that a retry of the call starts a new one. */
function retireKey(endedKeys: Map<string, number>, key: string): void {
  const hash = key.replace(/^plugin-/, "").replace(/-\d+$/, "");
  endedKeys.set(hash, (endedKeys.get(hash) ?? 0) + 1);
}

/** Unanswered duplicates of a call under other ids. A human is told of them before the call is sent. */
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

  /** All names, in an order that does not depend on how they were found. */
  get names(): readonly string[] {
    return [...this.#found.keys()].sort();
  }

  has(record: JournalRecord): boolean {
    return this.#found.has(toDuplicateKey(record));
  }

  add(record: JournalRecord): void {
    this.#found.set(toDuplicateKey(record), record);
  }

  /** Finds duplicates by requested or sent fingerprint; true when there are new ones. */
  async find(fingerprint: string): Promise<boolean> {
    const before = this.#found.size;
    const self = toMapKey(this.#key);
    const isKnown = (record: JournalRecord) => toMapKey(record) === self || this.has(record);
    for (;;) {
      const record = await this.#journal.findUnanswered(fingerprint, isKnown);
      // A journal may return a known record.
      if (record === undefined || isKnown(record)) return this.#found.size > before;
      this.add(record);
    }
  }

  /**
   * Call this after `sent`, of whose duplicates a human was warned, has ended: the next duplicate needs no warning of
   * those equal to `sent`.
   */
  async markWarned(sent: JournalRecord, now: number): Promise<void> {
    for (const record of this.#found.values()) {
      const isEqual =
        record.request === undefined ? record.fingerprint === sent.fingerprint : record.request === sent.request;
      if (isEqual) await this.#journal.record({ ...record, warnedAt: now });
    }
  }
}

/** A call that was refused and made again under the same id counts as a new duplicate. */
function toDuplicateKey(record: JournalRecord): string {
  return `${toMapKey(record)} ${record.at}`;
}
