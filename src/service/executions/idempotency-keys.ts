import { sql } from "kysely";
import { sha256Hex } from "../../shared/base/hash.ts";
import { isRecord } from "../../shared/base/json.ts";
import { IDEMPOTENCY_KEPT_MS } from "../../shared/wire/constants.ts";
import { ServiceError } from "../service-error.ts";
import type { Store } from "../store/open-store.ts";

/** Code of the refusal of a key that another execution has. */
export const KEY_TAKEN = "idempotency_key_taken";

/** A key with what it was used for. */
export interface KeyUse {
  readonly accountId: string;
  readonly key: string;
  readonly inputHash: string;
}

/**
 * Which execution each key stands for. A key is taken when its execution starts, in the same transaction, and stands
 * until upkeep removes it: its age alone does not free it, because a clock that is wrong for an hour would free them all.
 */
export type IdempotencyKeys = ReturnType<typeof createIdempotencyKeys>;

/** Creates the keys of a store. */
export function createIdempotencyKeys(store: Store, now: () => number) {
  const at = (offset = 0) => new Date(now() + offset).toISOString();
  return {
    async find(accountId: string, key: string) {
      const row = await store
        .selectFrom("idempotency_keys")
        .select(["execution_id", "input_hash"])
        .where("account_id", "=", accountId)
        .where("key", "=", key)
        .executeTakeFirst();
      return row && { executionId: row.execution_id, inputHash: row.input_hash };
    },

    /** @throws ServiceError 409 {@link KEY_TAKEN} when another execution has the key. */
    async claim(transaction: Store, { accountId, key, inputHash }: KeyUse, executionId: string): Promise<void> {
      const claimed = await transaction
        .insertInto("idempotency_keys")
        .values((e) => ({
          account_id: accountId,
          key,
          input_hash: inputHash,
          execution_id: executionId,
          created_at: at(),
          expires_at: at(IDEMPOTENCY_KEPT_MS),
          // Concurrent starts may get the same number; it is used for order only.
          number: e
            .selectFrom("idempotency_keys")
            .select((last) => sql<number>`${last.fn.coalesce(last.fn.max("number"), sql.lit(0))} + 1`.as("next")),
        }))
        .onConflict((c) => c.doNothing())
        .returning("key")
        .executeTakeFirst();
      if (claimed === undefined) throw new ServiceError(409, KEY_TAKEN, "Another request has this idempotency_key.");
    },

    /** For the caller that claimed it, once it is known that nothing was done under it. */
    async free({ accountId, key }: Pick<KeyUse, "accountId" | "key">): Promise<void> {
      await store.deleteFrom("idempotency_keys").where("account_id", "=", accountId).where("key", "=", key).execute();
    },
  };
}

/** SHA-256 (hex) over JSON with sorted keys: equal for values that differ only in the order of their members. */
export function hashInput(value: unknown): string {
  return sha256Hex(JSON.stringify(sortMembers(value)) ?? "");
}

function sortMembers(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortMembers);
  if (!isRecord(value)) return value;
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(members.map(([name, part]) => [name, sortMembers(part)]));
}
