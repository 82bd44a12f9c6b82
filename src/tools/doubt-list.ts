import type { CallJournal } from "../approvals/journal.ts";
import { type JournalKey, type JournalRecord, toMapKey } from "../approvals/journal-record.ts";

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
