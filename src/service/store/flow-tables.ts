import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Flows, their steps, the segments an engine still has to be told of, and the calls they made. */
export const flowTables: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await createFlowTables(db);
    await createSegmentTables(db);
  },
};

async function createFlowTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("flows")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("api_key_id", "text", (c) => c.notNull())
    .addColumn("template_key", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("trigger_type", "text", (c) => c.notNull())
    .addColumn("input", "text", (c) => c.notNull())
    .addColumn("context", "text", (c) => c.notNull())
    .addColumn("current_step", "text", (c) => c.notNull())
    .addColumn("segment", "integer", (c) => c.notNull())
    .addColumn("runner", "text", (c) => c.notNull())
    .addColumn("wake_at", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .addColumn("completed_at", "text")
    .execute();
  await db.schema.createIndex("flows_by_update").on("flows").columns(["account_id", "updated_at"]).execute();
  await db.schema.createIndex("flows_by_status").on("flows").columns(["status", "wake_at"]).execute();
  await db.schema
    .createTable("flow_steps")
    .addColumn("flow_id", "text", (c) => c.notNull())
    .addColumn("step_index", "integer", (c) => c.notNull())
    .addColumn("step_key", "text", (c) => c.notNull())
    .addColumn("step_type", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("input", "text")
    .addColumn("output", "text")
    .addColumn("error", "text")
    .addColumn("attempts", "integer", (c) => c.notNull())
    .addColumn("started_at", "text")
    .addColumn("completed_at", "text")
    .addPrimaryKeyConstraint("flow_steps_key", ["flow_id", "step_index"])
    .execute();
}

async function createSegmentTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("flow_outbox")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("flow_id", "text", (c) => c.notNull())
    .addColumn("segment", "integer", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("flow_calls")
    .addColumn("key", "text", (c) => c.primaryKey())
    .addColumn("flow_id", "text", (c) => c.notNull())
    .addColumn("execution_id", "text", (c) => c.notNull())
    .execute();
}
