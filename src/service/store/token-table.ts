import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Access tokens that the service renews. */
export const tokenTable: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("access_tokens")
      .addColumn("grant_hash", "text", (c) => c.primaryKey())
      .addColumn("integration", "text", (c) => c.notNull())
      .addColumn("tokens", "text", (c) => c.notNull())
      .addColumn("updated_at", "text", (c) => c.notNull())
      .execute();
  },
};

/** Sign-ins at providers that wait for the owner to come back. */
export const signInTable: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("provider_sign_ins")
      .addColumn("state_hash", "text", (c) => c.primaryKey())
      .addColumn("details", "text", (c) => c.notNull())
      .addColumn("expires_at", "text", (c) => c.notNull())
      .execute();
  },
};
