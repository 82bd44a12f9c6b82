import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** What OAuth clients, grants and tokens are remembered by, and the keys that sign for this service. */
export const oauthTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("oauth_records")
      .addColumn("model", "text", (c) => c.notNull())
      .addColumn("id_hash", "text", (c) => c.notNull())
      .addColumn("grant_id", "text")
      .addColumn("session_uid", "text")
      .addColumn("payload", "text", (c) => c.notNull())
      .addColumn("consumed_at", "integer")
      .addColumn("created_at", "text", (c) => c.notNull())
      .addColumn("expires_at", "text")
      .addPrimaryKeyConstraint("oauth_records_key", ["model", "id_hash"])
      .execute();
    await db.schema.createIndex("oauth_records_by_grant").on("oauth_records").column("grant_id").execute();
    await db.schema.createIndex("oauth_records_by_session").on("oauth_records").column("session_uid").execute();
    await db.schema
      .createTable("service_keys")
      .addColumn("name", "text", (c) => c.primaryKey())
      .addColumn("value", "text", (c) => c.notNull())
      .addColumn("created_at", "text", (c) => c.notNull())
      .execute();
  },
};
