import type { ExecutionRow } from "../store/schema.ts";
import type { ExecutionEnd, LogRecord, WriteRecord } from "./write-records.ts";

/** Milliseconds after which a read that still runs stands in the log; most have ended by then, and are written once. */
const SHOWN_AFTER_MS = 250;
/** Milliseconds that reads which have ended wait for others to be written with. */
const WRITTEN_AFTER_MS = 20;
/** As many are written at once. */
const MAX_WAITING = 64;

interface RunningRead {
  readonly row: ExecutionRow;
  /** True when its start is written, or about to be. */
  isShown: boolean;
  end?: ExecutionEnd;
  timer?: NodeJS.Timeout;
}

/**
 * The records of reads of one process: a read changes nothing, so that nobody waits for them, and a crash may take the newest.
 *
 * @param o `writeEnd` writes a record at once or later; `onLost` is told of one that cannot be written
 */
export function createRunningReads(o: {
  readonly write: WriteRecord;
  readonly writeEnd: WriteRecord;
  readonly onLost: (error: unknown) => void;
}) {
  const running = new Map<string, RunningRead>();
  let waiting: LogRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  let written: Promise<unknown> = Promise.resolve();

  async function show(read: RunningRead): Promise<void> {
    read.isShown = true;
    try {
      await o.write({ row: read.row, isSoft: true });
    } catch (error) {
      read.isShown = false;
      // It has ended meanwhile, and its end finds no row.
      if (read.end !== undefined) writeSoon(read, read.end);
      throw error;
    }
  }

  function writeSoon({ row, isShown }: RunningRead, end: ExecutionEnd): void {
    waiting.push(isShown ? { end, isSoft: true } : { row: { ...row, ...end }, isSoft: true });
    if (waiting.length >= MAX_WAITING) void flush();
    else timer ??= setTimeout(flush, WRITTEN_AFTER_MS);
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    const records = waiting;
    waiting = [];
    written = Promise.all([written, ...records.map((record) => o.writeEnd(record).catch(o.onLost))]);
    await written;
  }

  return {
    /** Notes a read that starts; its row is written when it has not ended soon, with `atOnce` before the promise resolves. */
    async begin(row: ExecutionRow, { atOnce }: { atOnce: boolean }): Promise<void> {
      const read: RunningRead = { row, isShown: false };
      if (atOnce) await show(read);
      else read.timer = setTimeout(() => show(read).catch(() => {}), SHOWN_AFTER_MS).unref();
      running.set(row.id, read);
    },

    /** Takes the end of a read, which is written soon; false for any other execution. */
    end(end: ExecutionEnd): boolean {
      const read = running.get(end.id);
      if (read === undefined) return false;
      running.delete(end.id);
      clearTimeout(read.timer);
      read.end = end;
      writeSoon(read, end);
      return true;
    },

    /** Resolves when all that have ended are in the log. */
    flush,
  };
}
