import type { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";
import { isStoreUnavailable } from "../store/store-errors.ts";
import { storeError } from "./outcome.ts";
import type { LogRecord, WriteRecord } from "./write-records.ts";

/** How often a start that may have been written is looked for after the store came back. */
const LOOKS = 5;

/** Records of executions that are written later when the store was away in the meantime. */
export function createLateRecords(store: Store, write: WriteRecord, at: () => string) {
  const ends = new Set<LogRecord>();
  const doubts = new Map<string, { reason: ServiceError; looks: number }>();

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
    async end(record: LogRecord): Promise<void> {
      try {
        await write(record);
      } catch (error) {
        if (!isStoreUnavailable(error)) throw error;
        ends.add(record);
      }
    },

    /** True while ends wait for the store. */
    isBehind: () => ends.size > 0,

    /** Notes an execution that was not run, though its start may have been written before the connection broke. */
    doubt: (id: string, reason: ServiceError) => void doubts.set(id, { reason, looks: 0 }),

    /** Writes all waiting records. @throws ServiceError 503 while the store is still away; nothing is forgotten then. */
    async settle(): Promise<void> {
      for (const record of ends) {
        await write(record);
        ends.delete(record);
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
