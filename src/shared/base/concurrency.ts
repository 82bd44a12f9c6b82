/** Lets a fixed number of holders in at a time; the others wait in order. */
export interface Gate {
  /** Resolves with the function that leaves again (calling it twice is harmless). Rejects when the signal aborts first. */
  enter(signal?: AbortSignal): Promise<() => void>;
  /** Does `work` as a holder. */
  run<T>(work: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/** Creates a {@link Gate} for `places` holders. */
export function createGate(places: number): Gate {
  let free = places;
  const waiting: (() => void)[] = [];
  const createLeave = () => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    };
  };
  const gate: Gate = {
    enter(signal) {
      if (signal?.aborted) return Promise.reject(signal.reason);
      if (free > 0) {
        free -= 1;
        return Promise.resolve(createLeave());
      }
      return new Promise((resolve, reject) => {
        const go = () => {
          signal?.removeEventListener("abort", stop);
          resolve(createLeave());
        };
        const stop = () => {
          waiting.splice(waiting.indexOf(go), 1);
          reject(signal?.reason);
        };
        signal?.addEventListener("abort", stop, { once: true });
        waiting.push(go);
      });
    },
    async run(work, signal) {
      const leave = await gate.enter(signal);
      try {
        return await work();
      } finally {
        leave();
      }
    },
  };
  return gate;
}

/** Gives the value that the first use made. */
interface Once<T> {
  (): Promise<T>;
  /** What was made, or is being made; undefined before the first use. */
  peek(): Promise<T> | undefined;
}

/** Makes a value at its first use and keeps it; a failure is not kept. */
export function makeOnce<T>(make: () => Promise<T>): Once<T> {
  let made: Promise<T> | undefined;
  const get = () => {
    made ??= make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };
  return Object.assign(get, { peek: () => made });
}

/**
 * Rejects on abort with the signal's reason, or with the result of `toError`; also when the work does not listen to its
 * signal.
 */
export function stopOnAbort<T>(
  work: Promise<T>,
  signal: AbortSignal,
  toError: (signal: AbortSignal) => unknown = ({ reason }) => reason,
): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const stop = () => reject(toError(signal));
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  return Promise.race([work, promise]).finally(() => signal.removeEventListener("abort", stop));
}

/**
 * Wraps `listener` so that it is called at once and its errors and rejections are dropped: a call that has acted must
 * not lose its outcome to a failing logger.
 */
export function createEmitter<Event>(listener: (event: Event) => unknown): (event: Event) => void {
  // Async, so that errors and rejections take the same path.
  const tell = async (event: Event): Promise<unknown> => listener(event);
  return (event) => void tell(event).catch(() => undefined);
}

/** Runs pieces of work of the same name one after another, and those of different names side by side. */
export function createTurns(): <T>(name: string, work: () => Promise<T>) => Promise<T> {
  const last = new Map<string, Promise<unknown>>();
  return (name, work) => {
    const turn = (last.get(name) ?? Promise.resolve()).then(work, work);
    last.set(name, turn);
    const leave = () => {
      if (last.get(name) === turn) last.delete(name);
    };
    turn.then(leave, leave);
    return turn;
  };
}
