import { setImmediate as nextTurn } from "node:timers/promises";

/**
 * Writes items that come in one turn of the event loop, or while a write is under way, together, so that all of them wait
 * for the disk once. Each promise settles when its item is written. When several cannot be written together, each is
 * written alone, so that none fails for another's sake; after an error that is `isFinal`, all fail.
 */
export function createTogetherWriter<Item>(
  write: (items: readonly Item[]) => Promise<void>,
  { maxItems = Number.POSITIVE_INFINITY, isFinal = () => false }: TogetherOptions = {},
): (item: Item) => Promise<void> {
  let waiting: { item: Item; done: () => void; fail: (error: unknown) => void }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      // Items that come in the same turn of the event loop join this batch.
      await nextTurn();
      const batch = waiting.slice(0, maxItems);
      waiting = waiting.slice(maxItems);
      await settle(batch);
    }
    isWriting = false;
  }

  async function settle(batch: typeof waiting): Promise<void> {
    try {
      await write(batch.map(({ item }) => item));
      for (const { done } of batch) done();
    } catch (error) {
      if (batch.length === 1 || isFinal(error)) for (const { fail } of batch) fail(error);
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

interface TogetherOptions {
  /** Most items of one write; default no limit. */
  readonly maxItems?: number;
  /** True for an error after which nothing is tried again; default never. */
  readonly isFinal?: (error: unknown) => boolean;
}
