import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Lets the execution log be read page by page, newest first. */
export const activityIndex: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createIndex("executions_by_time")
      .on("executions")
      .columns(["account_id", "started_at", "id"])
      .execute();
  },
};

/** Lets the log be read tool by tool, and its tools be listed, without looking at every execution. */
export const toolIndex: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createIndex("executions_by_tool")
      .on("executions")
      .columns(["account_id", "tool_name", "started_at", "id"])
      .execute();
  },
};
