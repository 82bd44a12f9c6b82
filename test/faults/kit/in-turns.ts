/** Runs a piece of work as soon as fewer than `width` others run. */
export type InTurns = <T>(work: () => Promise<T>) => Promise<T>;

/** Creates a queue that is `width` wide. */
export function createTurns(width: number): InTurns {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= width) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
