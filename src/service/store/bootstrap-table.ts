import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Sessions of the installer bootstrap flow. */
export const bootstrapTable: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("bootstrap_sessions")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("approval_hash", "text", (c) => c.notNull().unique())
      .addColumn("poll_hash", "text", (c) => c.notNull().unique())
      .addColumn("display_code", "text", (c) => c.notNull())
      .addColumn("client_label", "text")
      .addColumn("hostname", "text")
      .addColumn("platform", "text")
      .addColumn("agent", "text")
      .addColumn("address", "text", (c) => c.notNull())
      .addColumn("status", "text", (c) => c.notNull())
      .addColumn("account_id", "text")
      .addColumn("api_key_id", "text")
      .addColumn("created_at", "text", (c) => c.notNull())
      .addColumn("expires_at", "text", (c) => c.notNull())
      .addColumn("decided_at", "text")
      .addColumn("consumed_at", "text")
      .execute();
    await db.schema
      .createIndex("bootstrap_sessions_by_address")
      .on("bootstrap_sessions")
      .columns(["address", "created_at"])
      .execute();
  },
};
