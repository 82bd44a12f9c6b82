import { setImmediate as nextTurn } from "node:timers/promises";
import type { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import type { ExecutionRow } from "../store/schema.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { storeError } from "./outcome.ts";

/** How often a start that may have been written is looked for after the store came back. */
const LOOKS = 5;

/** Records of executions that are written later when the store was away in the meantime. */
export function createLateRecords(store: Store, at: () => string) {
  const ends = new Map<string, Partial<ExecutionRow>>();
  const doubts = new Map<string, { reason: ServiceError; looks: number }>();

  const write = createTogetherWriter<{ id: string; end: Partial<ExecutionRow> }>(async (records) => {
    const writeIn = async (place: Store) => {
      for (const { id, end } of records) await place.updateTable("executions").set(end).where("id", "=", id).execute();
    };
    await (records.length === 1 ? writeIn(store) : store.transaction().execute(writeIn));
  });

  /** Closes a start that led to nothing and frees the keys that were taken with it. */
  async function withdraw(id: string, reason: ServiceError): Promise<boolean> {
    return store.transaction().execute(async (transaction) => {
      const closed = await transaction
        .updateTable("executions")
        .set({ status: "refused", error: storeError(reason), finished_at: at() })
        .where("id", "=", id)
        .executeTakeFirst();
      await transaction.deleteFrom("idempotency_keys").where("execution_id", "=", id).execute();
      await transaction.deleteFrom("flow_calls").where("execution_id", "=", id).execute();
      return closed.numUpdatedRows > 0n;
    });
  }

  return {
    /** Writes how an execution ended, at once or as soon as the store is back: the provider has acted, nothing undoes it. */
    async end(id: string, end: Partial<ExecutionRow>): Promise<void> {
      try {
        await write({ id, end });
      } catch (error) {
        if (!isStoreUnavailable(error)) throw error;
        ends.set(id, end);
      }
    },

    /** Notes an execution that was not run, though its start may have been written before the connection broke. */
    doubt: (id: string, reason: ServiceError) => void doubts.set(id, { reason, looks: 0 }),

    /** Writes all waiting records. @throws ServiceError 503 while the store is still away; nothing is forgotten then. */
    async settle(): Promise<void> {
      for (const [id, end] of ends) {
        await write({ id, end });
        ends.delete(id);
      }
      for (const [id, { reason, looks }] of doubts) {
        // The server may still be about to carry out what it was sent before the connection broke.
        const isDone = (await withdraw(id, reason)) || looks + 1 >= LOOKS;
        if (isDone) doubts.delete(id);
        else doubts.set(id, { reason, looks: looks + 1 });
      }
    },
  };
}

/**
 * Writes items that come while a write is under way together, so that all of them wait for the disk once. Each promise
 * settles when its item is written. When several cannot be written together, each is written alone, so that none
 * fails for another's sake.
 */
export function createTogetherWriter<Item>(
  write: (items: readonly Item[]) => Promise<void>,
): (item: Item) => Promise<void> {
  let waiting: { item: Item; done: () => void; fail: (error: unknown) => void }[] = [];
  let isWriting = false;

  async function writeAll(): Promise<void> {
    isWriting = true;
    while (waiting.length > 0) {
      // Items that come in the same turn of the event loop join this batch.
      await nextTurn();
      const batch = waiting;
      waiting = [];
      await settle(batch);
    }
    isWriting = false;
  }

  async function settle(batch: typeof waiting): Promise<void> {
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
