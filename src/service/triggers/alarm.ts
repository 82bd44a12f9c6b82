/** Clocks are set and machines sleep: a timer is never longer than this. */
const LONGEST_MS = 60_000;
const RETRY_MS = 1000;

interface AlarmParts {
  /** What is done at each ring; never twice at one time. */
  work(): Promise<void>;
  /** When the next work is due, in milliseconds since the epoch; undefined when none ever is. */
  findNext(): Promise<number | undefined>;
  readonly now: () => number;
  report(cause: unknown): void;
}

/** Does work now and whenever it is due; while nothing ever is, there is no timer. */
export function createAlarm({ work, findNext, now, report }: AlarmParts) {
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let isAskedAgain = false;
  let isClosed = false;

  function set(delay: number): void {
    clearTimeout(timer);
    if (!isClosed) timer = setTimeout(ring, delay).unref();
  }

  async function round(): Promise<void> {
    try {
      await work();
      const next = await findNext();
      clearTimeout(timer);
      if (next === undefined) return;
      // What is due and was left has to wait for something.
      const delay = Math.min(next - now(), LONGEST_MS);
      set(delay > 0 ? delay : RETRY_MS);
    } catch (cause) {
      report(cause);
      set(RETRY_MS);
    }
  }

  function ring(): void {
    if (isClosed) return;
    if (running !== undefined) isAskedAgain = true;
    running ??= round().finally(() => {
      running = undefined;
      if (!isAskedAgain) return;
      isAskedAgain = false;
      ring();
    });
  }

  return {
    /** Does the work now; once more when it is being done already. */
    ring,
    /** The work that is being done. */
    current: () => running,
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}
