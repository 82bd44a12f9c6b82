import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";

/** Longest key, in characters. */
export const MAX_IDEMPOTENCY_KEY = 200;
/** How long a key stands for its execution: seven days from the start of that execution. */
export const IDEMPOTENCY_KEPT_MS = 7 * 24 * 60 * 60 * 1000;
/** Code of the refusal of {@link IdempotencyKeys.claim}. */
export const KEY_TAKEN = "idempotency_key_taken";

/** A key with what it was used for. */
export interface KeyUse {
  readonly accountId: string;
  readonly key: string;
  readonly inputHash: string;
}

/** Which execution each key stands for. A key is taken when its execution starts, in the same transaction. */
export interface IdempotencyKeys {
  find(accountId: string, key: string): Promise<{ executionId: string; inputHash: string } | undefined>;
  /** @throws ServiceError 409 {@link KEY_TAKEN} when another execution has the key. */
  claim(transaction: Store, use: KeyUse, executionId: string): Promise<void>;
}

/** Creates the keys of a store. */
export function createIdempotencyKeys(store: Store, now: () => number): IdempotencyKeys {
  const at = (offset = 0) => new Date(now() + offset).toISOString();
  return {
    async find(accountId, key) {
      const row = await store
        .selectFrom("idempotency_keys")
        .select(["execution_id", "input_hash"])
        .where("account_id", "=", accountId)
        .where("key", "=", key)
        .where("expires_at", ">", at())
        .executeTakeFirst();
      return row && { executionId: row.execution_id, inputHash: row.input_hash };
    },

    async claim(transaction, { accountId, key, inputHash }, executionId) {
      await transaction.deleteFrom("idempotency_keys").where("expires_at", "<=", at()).execute();
      const claimed = await transaction
        .insertInto("idempotency_keys")
        .values({
          account_id: accountId,
          key,
          input_hash: inputHash,
          execution_id: executionId,
          created_at: at(),
          expires_at: at(IDEMPOTENCY_KEPT_MS),
        })
        .onConflict((c) => c.doNothing())
        .returning("key")
        .executeTakeFirst();
      if (claimed === undefined) throw new ServiceError(409, KEY_TAKEN, "Another request has this idempotency_key.");
    },
  };
}
