import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Processes that share a store, and which of them runs an execution. */
export const nodeTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("nodes")
      .addColumn("id", "text", (c) => c.primaryKey())
      .addColumn("beats", "integer", (c) => c.notNull())
      .addColumn("started_at", "text", (c) => c.notNull())
      .addColumn("last_seen_at", "text", (c) => c.notNull())
      .execute();
    await db.schema.alterTable("executions").addColumn("node_id", "text").execute();
  },
};
