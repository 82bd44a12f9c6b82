import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Keys of canonical executions, each bound to the one execution it started. */
export const idempotencyTable: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("idempotency_keys")
      .addColumn("account_id", "text", (c) => c.notNull())
      .addColumn("key", "text", (c) => c.notNull())
      .addColumn("input_hash", "text", (c) => c.notNull())
      .addColumn("execution_id", "text", (c) => c.notNull())
      .addColumn("created_at", "text", (c) => c.notNull())
      .addColumn("expires_at", "text", (c) => c.notNull())
      .addPrimaryKeyConstraint("idempotency_keys_key", ["account_id", "key"])
      .execute();
    await db.schema.createIndex("idempotency_keys_by_expiry").on("idempotency_keys").column("expires_at").execute();
  },
};
