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
