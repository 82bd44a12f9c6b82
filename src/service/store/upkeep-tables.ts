import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Tables of sessions that anybody may start. */
const SESSION_TABLES = ["pairing_sessions", "bootstrap_sessions"] as const;

/**
 * Lets what ended long ago be found and removed without a look at everything else, and lets sessions that nobody opened
 * give way to others.
 */
export const upkeepTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await createIndexes(db);
    for (const table of SESSION_TABLES) {
      await db.schema
        .alterTable(table)
        .addColumn("network", "text", (c) => c.notNull().defaultTo(""))
        .execute();
      await db.schema.alterTable(table).addColumn("opened_at", "text").execute();
      await db.schema.createIndex(`${table}_by_status`).on(table).columns(["status", "expires_at"]).execute();
      await db.schema.createIndex(`${table}_by_expiry`).on(table).column("expires_at").execute();
    }
  },
};

async function createIndexes(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex("executions_by_connection")
    .on("executions")
    .columns(["account_id", "connection_id", "started_at", "id"])
    .execute();
  // With the id, so that a page of it needs no sorting: without, SQLite looks through all statuses.
  await db.schema.dropIndex("executions_by_status").execute();
  await db.schema
    .createIndex("executions_by_status")
    .on("executions")
    .columns(["status", "account_id", "started_at", "id"])
    .execute();
  await db.schema.createIndex("flow_calls_by_flow").on("flow_calls").column("flow_id").execute();
  await db.schema.createIndex("flow_calls_by_execution").on("flow_calls").column("execution_id").execute();
  await db.schema.createIndex("idempotency_keys_by_execution").on("idempotency_keys").column("execution_id").execute();
  await db.schema.createIndex("flows_by_state").on("flows").columns(["account_id", "status", "updated_at"]).execute();
  await db.schema.createIndex("oauth_records_by_expiry").on("oauth_records").column("expires_at").execute();
}
