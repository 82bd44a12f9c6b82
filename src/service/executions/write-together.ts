import { setImmediate as nextTurn } from "node:timers/promises";

/** One write that waits for others. */
interface Waiting<Item> {
  readonly item: Item;
  readonly done: () => void;
  readonly fail: (error: unknown) => void;
}

/**
 * Writes items that come while a write is under way together, so that all of them wait for the disk once. Each promise
 * settles when its item is written. When several cannot be written together, each is written alone, so that none
 * fails for another's sake.
 */
export function createTogetherWriter<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: Waiting<Item>[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      // What ends in the same turn of the event loop goes along.
      await nextTurn();
      const batch = waiting;
      waiting = [];
      await settle(batch);
    }
    isWriting = false;
  }

  async function settle(batch: readonly Waiting<Item>[]): Promise<void> {
    try {
      await write(batch.map(({ item }) => item));
      for (const { done } of batch) done();
    } catch (error) {
      if (batch.length === 1) batch[0]?.fail(error);
      else for (const one of batch) await settle([one]);
    }
  }

  return (item) => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    waiting.push({ item, done: resolve, fail: reject });
    if (!isWriting) void writeAll();
    return promise;
  };
}
