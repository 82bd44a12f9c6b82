import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Lets apps and requests of apps that wait for the owner give way to others as sessions do. */
export const oauthNetworks: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("oauth_records")
      .addColumn("network", "text", (c) => c.notNull().defaultTo(""))
      .execute();
    await db.schema.alterTable("oauth_records").addColumn("opened_at", "text").execute();
  },
};
