import type { Kysely } from "kysely";
import type { Migration } from "kysely/migration";

/** Integrations that the owner added. */
export const sourceTable: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .createTable("integration_sources")
      .addColumn("slug", "text", (c) => c.primaryKey())
      .addColumn("kind", "text", (c) => c.notNull())
      .addColumn("name", "text", (c) => c.notNull())
      .addColumn("definition", "text", (c) => c.notNull())
      .addColumn("content", "text", (c) => c.notNull())
      .addColumn("digest", "text", (c) => c.notNull())
      .addColumn("proposed_content", "text")
      .addColumn("proposed_digest", "text")
      .addColumn("proposed_at", "text")
      .addColumn("revision", "text", (c) => c.notNull())
      .addColumn("added_at", "text", (c) => c.notNull())
      .execute();
  },
};

/** Whether the owner does not want to be asked about what is proposed. */
export const dismissedProposals: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await db.schema
      .alterTable("integration_sources")
      .addColumn("proposal_dismissed", "integer", (c) => c.notNull().defaultTo(0))
      .execute();
  },
};
