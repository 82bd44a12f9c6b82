import type { ExecutionRow } from "../store/schema.ts";
import type { ExecutionEnd, LogRecord, WriteRecord } from "./write-records.ts";

/** Milliseconds after which a read that still runs stands in the log; most have ended by then, and are written once. */
const SHOWN_AFTER_MS = 250;

interface RunningRead {
  readonly row: ExecutionRow;
  /** Settles when its start is written. */
  shown: Promise<void> | undefined;
}

/** Reads whose end is not written yet. A read changes nothing, so that its record need not outlive a power cut. */
export type RunningReads = ReturnType<typeof createRunningReads>;

/** Creates the reads of one process. */
export function createRunningReads(write: WriteRecord, shownAfterMs = SHOWN_AFTER_MS) {
  const running = new Map<string, RunningRead & { readonly timer: NodeJS.Timeout }>();

  function show(read: RunningRead): Promise<void> {
    read.shown ??= write({ row: read.row, isSoft: true });
    return read.shown;
  }

  return {
    /** Notes a read that starts; its row is written when it has not ended soon, with `atOnce` before the promise resolves. */
    async begin(row: ExecutionRow, { atOnce }: { atOnce: boolean }): Promise<void> {
      const read: RunningRead = { row, shown: undefined };
      if (atOnce) await show(read);
      const timer = setTimeout(() => show(read).catch(() => {}), shownAfterMs).unref();
      running.set(row.id, Object.assign(read, { timer }));
    },

    /** The record of an end: of a read without a row it holds both. */
    async end(end: ExecutionEnd): Promise<LogRecord> {
      const read = running.get(end.id);
      if (read === undefined) return { end, isSoft: false };
      running.delete(end.id);
      clearTimeout(read.timer);
      const isShown = await read.shown?.then(
        () => true,
        () => false,
      );
      return isShown ? { end, isSoft: true } : { row: { ...read.row, ...end }, isSoft: true };
    },
  };
}
