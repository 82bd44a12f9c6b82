import type { Kysely } from "kysely";
import { type Migration, Migrator } from "kysely/migration";
import { SvcError } from "../../errors.ts";
import { activityIndex, toolIndex } from "./activity-index.ts";
import { bootstrapTable } from "./bootstrap-table.ts";
import { flowTables } from "./flow-tables.ts";
import { idempotencyTable } from "./idempotency-table.ts";
import { nodeTables } from "./node-tables.ts";
import { oauthNetworks } from "./oauth-networks.ts";
import { oauthTables } from "./oauth-tables.ts";
import { dismissedProposals, sourceTable } from "./source-table.ts";
import { signInTable, tokenTable } from "./token-table.ts";
import { upkeepTables } from "./upkeep-tables.ts";

/** Tables of the first release. A released migration is never edited; a change is a new entry below. */
const first: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await createIdentityTables(db);
    await createWorkTables(db);
  },
};

async function createIdentityTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("accounts")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("created_at", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("api_keys")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("key_hash", "text", (c) => c.notNull().unique())
    .addColumn("last_four", "text", (c) => c.notNull())
    .addColumn("label", "text", (c) => c.notNull())
    .addColumn("client", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("last_used_at", "text")
    .addColumn("revoked_at", "text")
    .execute();
  await db.schema
    .createTable("sign_in_links")
    .addColumn("link_hash", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("used_at", "text")
    .execute();
  await db.schema
    .createTable("owner_sessions")
    .addColumn("session_hash", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("pairing_sessions")
    .addColumn("token_hash", "text", (c) => c.primaryKey())
    .addColumn("verifier_hash", "text", (c) => c.notNull())
    .addColumn("display_code", "text", (c) => c.notNull())
    .addColumn("device_label", "text")
    .addColumn("client", "text")
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("wrong_verifiers", "integer", (c) => c.notNull())
    .addColumn("account_id", "text")
    .addColumn("api_key_id", "text")
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .addColumn("approved_at", "text")
    .addColumn("exchanged_at", "text")
    .execute();
}

async function createWorkTables(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable("connections")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("integration", "text", (c) => c.notNull())
    .addColumn("label", "text", (c) => c.notNull())
    .addColumn("settings", "text", (c) => c.notNull())
    .addColumn("scopes", "text", (c) => c.notNull())
    .addColumn("state", "text", (c) => c.notNull())
    .addColumn("is_default", "integer", (c) => c.notNull())
    .addColumn("created_at", "text", (c) => c.notNull())
    .addColumn("updated_at", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("executions")
    .addColumn("id", "text", (c) => c.primaryKey())
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("api_key_id", "text")
    .addColumn("connection_id", "text", (c) => c.notNull())
    .addColumn("integration", "text", (c) => c.notNull())
    .addColumn("action_id", "text", (c) => c.notNull())
    .addColumn("tool_name", "text", (c) => c.notNull())
    .addColumn("side_effect_level", "text", (c) => c.notNull())
    .addColumn("arguments", "text", (c) => c.notNull())
    .addColumn("status", "text", (c) => c.notNull())
    .addColumn("output", "text")
    .addColumn("error", "text")
    .addColumn("started_at", "text", (c) => c.notNull())
    .addColumn("finished_at", "text")
    .execute();
  await db.schema
    .createIndex("executions_by_status")
    .on("executions")
    .columns(["status", "account_id", "started_at"])
    .execute();
  await db.schema
    .createTable("spent_ingest_tokens")
    .addColumn("jti", "text", (c) => c.primaryKey())
    .addColumn("expires_at", "text", (c) => c.notNull())
    .execute();
  await db.schema
    .createTable("usage_days")
    .addColumn("account_id", "text", (c) => c.notNull())
    .addColumn("day", "text", (c) => c.notNull())
    .addColumn("executions", "integer", (c) => c.notNull())
    .addPrimaryKeyConstraint("usage_days_key", ["account_id", "day"])
    .execute();
}

const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first": first,
  "0002-idempotency": idempotencyTable,
  "0003-bootstrap": bootstrapTable,
  "0004-activity-index": activityIndex,
  "0005-flows": flowTables,
  "0006-oauth": oauthTables,
  "0007-nodes": nodeTables,
  "0008-sources": sourceTable,
  "0009-access-tokens": tokenTable,
  "0010-dismissed-proposals": dismissedProposals,
  "0011-provider-sign-ins": signInTable,
  "0012-tool-index": toolIndex,
  "0013-upkeep": upkeepTables,
  "0014-oauth-networks": oauthNetworks,
};

/**
 * Brings the tables up to date.
 *
 * @throws SvcError `invalid_config` when a newer version has been at the database; the database's own error when a
 *   migration fails.
 */
export async function migrateStore<T>(db: Kysely<T>): Promise<void> {
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const unknown = /executed migration (\S+) is missing/.exec(error instanceof Error ? error.message : "")?.[1];
  if (unknown === undefined) throw error;
  throw new SvcError("invalid_config", `A newer version has changed this database (${unknown}).`, {
    field: "dataDir",
    hint: "Start that version again, or restore the backup made before the upgrade.",
    cause: error,
  });
}
