import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import {
  chooseRecord,
  hasLeft,
  isEqualTo,
  isUnanswered,
  type JournalKey,
  type JournalRecord,
  toMapKey,
} from "./journal-record.ts";
import { hasEnded, ignoreMissing, isSegmentName, readSegment } from "./journal-segment.ts";

interface Seen {
  /** In bytes; a file only grows. */
  readonly size: number;
  /** Calls that were sent or have ended; what another process is asked or has agreed to is its own affair. */
  readonly records: ReadonlyMap<string, JournalRecord>;
}

const TRIES = 20;

/** What the other files of a journal's folder say, of processes that run and of such that were killed since. */
export class OtherSegments {
  readonly #folder: string;
  #seen = new Map<string, Seen>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** True when the folder is used by no other process that still runs, as of the last refresh. */
  get haveEnded(): boolean {
    return [...this.#seen.keys()].every((name) => hasEnded(this.#folder, name));
  }

  /** Reads what is new, in every file but `own`. */
  async refresh(own: string, triesLeft = TRIES): Promise<void> {
    const seen = new Map<string, Seen>();
    for (const name of (await readdir(this.#folder)).filter((entry) => isSegmentName(entry) && entry !== own)) {
      const path = join(this.#folder, name);
      const size = (await stat(path).catch(ignoreMissing))?.size;
      const known = this.#seen.get(name);
      const segment = size === undefined || size === known?.size ? undefined : await readSegment(path);
      if (segment !== undefined && size !== undefined) {
        const records = new Map([...segment.records].filter(([, record]) => hasLeft(record)));
        seen.set(name, { size, records });
      } else if (known !== undefined && size === known.size) seen.set(name, known);
      // Merged away by a third process: its records are in a new file now.
      else if (triesLeft > 0) return this.refresh(own, triesLeft - 1);
    }
    this.#seen = seen;
  }

  /** The last that was written about a call. */
  find(key: JournalKey): JournalRecord | undefined {
    const records = [...this.#seen.values()].flatMap((seen) => seen.records.get(toMapKey(key)) ?? []);
    return records.length === 0 ? undefined : records.reduce(chooseRecord);
  }

  /** Calls equal to this fingerprint that were sent and, as far as the other files say, never answered. */
  listUnanswered(fingerprint: string): JournalRecord[] {
    const all = [...this.#seen.values()].flatMap((seen) => [...seen.records.values()]);
    return all.filter((record) => isEqualTo(record, fingerprint) && isUnanswered(record));
  }
}
