import { uptime } from "node:os";

/** Time servers make smaller steps. */
const MAX_STEP_MS = 5 * 60_000;
/** A service that was off for longer is rare, and a clock that runs ahead costs it its log. */
const MAX_PAUSE_MS = 30 * 24 * 60 * 60_000;
/** A clock that has run evenly for this long is believed. */
const BELIEVED_AFTER_MS = 60 * 60_000;

/** The clock of the machine beside one that nobody can set. */
export interface Clocks {
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Milliseconds since some moment; goes on while the machine sleeps. */
  readonly elapsed: () => number;
}

/** Milliseconds since the machine started. */
export function systemElapsed(): number {
  return uptime() * 1000;
}

/** Where a clock that cannot be believed is reported; undefined says that it can be again. */
interface Reports {
  report(code: "clock_wrong", found: { readonly message: string; readonly advice: string } | undefined): void;
}

/**
 * Watches for a clock that was set. A step reports `clock_wrong` until it is taken back, or until the clock has run evenly
 * for an hour.
 *
 * @param o.newest time of the newest record, in milliseconds since the epoch; undefined when there is none.
 */
export function watchClock({ now, elapsed }: Clocks, o: { newest: number | undefined; health: Reports }) {
  /** How far the two clocks are apart. */
  const readOffset = () => now() - elapsed();
  const around = (offset: number) => ({ least: offset - MAX_STEP_MS, most: offset + MAX_STEP_MS });
  let seen = readOffset();
  let steadySince = elapsed();
  let doubt: string | undefined;
  let right = around(seen);
  if (o.newest !== undefined) {
    right = { least: o.newest - elapsed() - MAX_STEP_MS, most: o.newest - elapsed() + MAX_PAUSE_MS };
    doubt = judgeStart(now(), o.newest);
  }

  function check(): void {
    const offset = readOffset();
    const step = offset - seen;
    seen = offset;
    if (Math.abs(step) > MAX_STEP_MS) {
      steadySince = elapsed();
      doubt = `The clock of this machine was set ${step > 0 ? "forward" : "back"} by ${showSpan(Math.abs(step))}, to ${showTime(now())}.`;
    }
    const isRight = offset >= right.least && offset <= right.most;
    if (isRight || elapsed() - steadySince >= BELIEVED_AFTER_MS) {
      doubt = undefined;
      right = around(offset);
    }
    const advice = "Set it right. Until it is, or has run evenly for an hour, nothing is removed for its age.";
    o.health.report("clock_wrong", doubt === undefined ? undefined : { message: doubt, advice });
  }

  check();
  return {
    /** Compares the clocks. */
    check,
    /** False while the clock is in doubt. */
    isBelieved: () => doubt === undefined,
  };
}

function judgeStart(now: number, newest: number): string | undefined {
  if (now >= newest - MAX_STEP_MS && now <= newest + MAX_PAUSE_MS) return undefined;
  const times = `It is ${showTime(now)} by the clock of this machine, and the newest record is of ${showTime(newest)}.`;
  return now < newest ? times : `${times} The clock is wrong, unless the service was off for that long.`;
}

function showTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, "Z");
}

function showSpan(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 120) return `${minutes} minutes`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 60 / 24)} days`;
}
