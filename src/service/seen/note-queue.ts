import { setTimeout as sleep } from "node:timers/promises";

/** How long an answer is on its way before it is noted, in milliseconds: the next calls are not to wait for it. */
const NOTED_AFTER_MS = 50;

/** Work that is done later, one after another. */
export interface NoteQueue<Item> {
  add(item: Item): void;
  /** Does now what waits; resolves when all of it is done. */
  settle(): Promise<void>;
}

/** Creates a queue; `work` never throws. */
export function createNoteQueue<Item>(work: (item: Item) => Promise<void>): NoteQueue<Item> {
  let waiting: Item[] = [];
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function begin(): void {
    clearTimeout(timer);
    timer = undefined;
    const items = waiting;
    waiting = [];
    if (items.length === 0) return;
    running = running.then(async () => {
      for (const item of items) await work(item);
    });
  }

  return {
    add(item) {
      waiting.push(item);
      timer ??= setTimeout(begin, NOTED_AFTER_MS).unref();
    },
    async settle() {
      begin();
      await running;
    },
  };
}

/** Waits for work, and no longer than so many milliseconds. False where it has not ended by then. */
export async function waitAtMost(work: Promise<unknown>, ms: number): Promise<boolean> {
  const over = new AbortController();
  try {
    const done = work.then(
      () => true,
      () => true,
    );
    return await Promise.race([done, sleep(ms, false, { signal: over.signal }).catch(() => false)]);
  } finally {
    over.abort();
  }
}
