import { mkdir, unlink } from "node:fs/promises";
import { SvcError } from "../errors.ts";
import { OtherSegments } from "./journal-others.ts";
import { type JournalRecord, toMapKey } from "./journal-record.ts";
import {
  closeSegment,
  createSegment,
  type Forgotten,
  ignoreMissing,
  type OwnSegment,
  readFolder,
  removeSegment,
  toLine,
  writeLines,
} from "./journal-segment.ts";

/** A line, and what it says. */
interface Waiting {
  readonly said: JournalRecord | Forgotten;
  readonly line: string;
}

type Keep = (records: readonly JournalRecord[]) => JournalRecord[];

/** A file is written anew once it is this long, and then once it is twice as long as what was kept of it. */
const REWRITE_BYTES = 8 * 1024 * 1024;

/** The journal on disk: the own file of this process, after merging those of processes that have ended. */
export class JournalFile {
  /** The records of ended processes, found at opening. */
  readonly records: readonly JournalRecord[];
  readonly damagedLines: number;
  /** What other processes have written, as of the last refresh. */
  readonly others: OtherSegments;
  readonly #folder: string;
  readonly #keep: Keep;
  /** What the own file says of each call. */
  #own: Map<string, JournalRecord>;
  #segment: OwnSegment;
  #rewriteAt: number;
  #last: Promise<void> = Promise.resolve();
  /** What is written next, and when it will be on the disk; empty and undefined when nobody waits for that. */
  #waiting: Waiting[] = [];
  #next: Promise<void> | undefined;
  #lastLook: Promise<void> = Promise.resolve();
  #nextLook: Promise<void> | undefined;
  /** True after a line that may have been cut off, by a full disk for one. */
  #isTorn = false;

  private constructor(
    place: { folder: string; keep: Keep; rewriteBytes: number },
    segment: OwnSegment,
    found: { records: readonly JournalRecord[]; damagedLines: number },
  ) {
    this.#folder = place.folder;
    this.#keep = place.keep;
    this.#segment = segment;
    this.#rewriteAt = Math.max(place.rewriteBytes, 2 * segment.size);
    this.#own = toMap(found.records);
    this.records = found.records;
    this.others = new OtherSegments(place.folder);
    this.damagedLines = found.damagedLines;
  }

  /**
   * Opens a new file in `folder`; `keep` chooses the records worth carrying over, also when a file that has grown beyond
   * `rewriteBytes` (default 8 MiB) is written anew.
   *
   * @throws SvcError `invalid_config`, field `stateDir`, when the folder cannot be read or written
   */
  static async open(
    folder: string,
    keep: Keep,
    { rewriteBytes = REWRITE_BYTES }: { rewriteBytes?: number } = {},
  ): Promise<JournalFile> {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const { found, ended, damagedLines } = await readFolder(folder);
      const records = keep([...found.values()]);
      const segment = await createSegment(folder, records);
      for (const path of ended) await unlink(path).catch(ignoreMissing);
      const file = new JournalFile({ folder, keep, rewriteBytes }, segment, { records, damagedLines });
      await file.refresh();
      return file;
    } catch (cause) {
      throw unusable(folder, cause);
    }
  }

  /** Looks at what other processes have written until now; those who ask while it looks share the next look. */
  async refresh(): Promise<void> {
    if (this.#nextLook === undefined) {
      this.#nextLook = this.#lastLook.then(() => {
        this.#nextLook = undefined;
        return this.others.refresh(this.#segment.name);
      });
      this.#lastLook = this.#nextLook.catch(() => undefined);
    }
    return this.#nextLook;
  }

  /**
   * Appends one line and waits for the disk; lines of concurrent callers keep their order. Those that come while the disk
   * is busy are written together after that: where this fails, it fails for all of them.
   */
  async append(said: JournalRecord | Forgotten): Promise<void> {
    this.#waiting.push({ said, line: toLine(said) });
    if (this.#next === undefined) {
      this.#next = this.#last.then(() => this.#writeWaiting());
      this.#last = this.#next.catch(() => undefined);
    }
    return this.#next;
  }

  /** A line that was cut off must not take the next one with it. */
  async #writeWaiting(): Promise<void> {
    const written = this.#waiting;
    this.#waiting = [];
    this.#next = undefined;
    const { handle } = this.#segment;
    if (this.#isTorn) await handle.appendFile("\n");
    this.#isTorn = true;
    this.#segment.size += await writeLines(
      handle,
      written.map(({ line }) => line),
    );
    this.#isTorn = false;
    for (const { said } of written) {
      if ("forgotten" in said) this.#own.delete(toMapKey(said));
      else this.#own.set(toMapKey(said), said);
    }
    if (this.#segment.size >= this.#rewriteAt) await this.#rewrite();
  }

  /** What cannot be written anew goes on as it is. */
  async #rewrite(): Promise<void> {
    const before = this.#segment;
    this.#rewriteAt = 2 * before.size;
    const records = this.#keep([...this.#own.values()]);
    const segment = await createSegment(this.#folder, records).catch(() => undefined);
    if (segment === undefined) return;
    this.#segment = segment;
    this.#own = toMap(records);
    this.#rewriteAt = Math.max(before.size, 2 * segment.size);
    await removeSegment(this.#folder, before);
  }

  async close(): Promise<void> {
    await this.#last;
    await closeSegment(this.#segment);
  }
}

function unusable(folder: string, cause: unknown): SvcError {
  const code = cause instanceof Error && "code" in cause ? ` (${String(cause.code)})` : "";
  return new SvcError("invalid_config", `The journal of calls cannot be kept in ${folder}${code}.`, {
    field: "stateDir",
    hint: "Check the owner and the mode of the folder, and the space on its disk.",
    cause,
  });
}

function toMap(records: readonly JournalRecord[]): Map<string, JournalRecord> {
  return new Map(records.map((record) => [toMapKey(record), record]));
}
