import { type Kysely, sql } from "kysely";
import type { Migration } from "kysely/migration";
import { SvcError } from "../../shared/errors.ts";
import { watchTables } from "./watched-tables.ts";

/**
 * Tables of the first release, for SQLite and PostgreSQL alike. A released migration is never edited: a change is a new
 * entry in `MIGRATIONS`.
 */
const FIRST_TABLES: readonly string[] = [
  // People, keys and sessions.
  `create table accounts (id text primary key, created_at text not null)`,
  `create table api_keys (
    id text primary key, account_id text not null, key_hash text not null unique, last_four text not null,
    label text not null, client text, created_at text not null, last_used_at text, revoked_at text)`,
  `create index live_api_keys on api_keys (account_id, created_at, id, revoked_at) where revoked_at is null`,
  `create table people (
    id text primary key, account_id text not null, name text not null, role text not null, invited_at text not null,
    joined_at text, removed_at text)`,
  `create table sign_in_links (
    link_hash text primary key, person_id text not null, created_at text not null, expires_at text not null,
    used_at text)`,
  `create table owner_sessions (
    session_hash text primary key, id text not null unique, person_id text not null, browser text not null,
    created_at text not null, last_seen_at text not null, expires_at text not null)`,
  `create table pairing_sessions (
    token_hash text primary key, verifier_hash text not null, display_code text not null, device_label text,
    client text, status text not null, wrong_verifiers integer not null, scopes text, account_id text, created_at text not null,
    expires_at text not null, decided_at text, exchanged_at text, opened_at text)`,
  `create index pairing_sessions_by_status on pairing_sessions (status, expires_at)`,
  `create index pairing_sessions_by_expiry on pairing_sessions (expires_at)`,
  `create table bootstrap_sessions (
    id text primary key, approval_hash text not null unique, poll_hash text not null unique,
    display_code text not null, scopes text, client_label text, hostname text, platform text, agent text, address text not null,
    status text not null, account_id text, created_at text not null, expires_at text not null, decided_at text,
    opened_at text)`,
  `create index bootstrap_sessions_by_status on bootstrap_sessions (status, expires_at)`,
  `create index bootstrap_sessions_by_expiry on bootstrap_sessions (expires_at)`,
  `create table oauth_records (
    model text not null, id_hash text not null, grant_id text, session_uid text, payload text not null,
    consumed_at integer, created_at text not null, expires_at text, opened_at text,
    primary key (model, id_hash))`,
  `create index oauth_records_by_grant on oauth_records (grant_id)`,
  `create index oauth_records_by_session on oauth_records (session_uid)`,
  `create index oauth_records_by_expiry on oauth_records (expires_at)`,
  `create table service_keys (name text primary key, value text not null, created_at text not null)`,
  `create table spent_ingest_tokens (jti text primary key, expires_at text not null)`,
  `create index spent_ingest_tokens_by_expiry on spent_ingest_tokens (expires_at)`,

  // Apps and their accounts.
  `create table integration_sources (
    slug text primary key, kind text not null, name text not null, definition text not null, content text not null,
    digest text not null, proposed_content text, proposed_digest text, proposed_at text,
    proposal_dismissed integer not null default 0, revision text not null, added_at text not null)`,
  `create table connections (
    id text primary key, account_id text not null, integration text not null, label text not null,
    settings text not null, scopes text not null, state text not null, is_default integer not null,
    created_at text not null, updated_at text not null)`,
  `create table sign_ins (id text primary key, integration text not null, record text not null, updated_at text not null)`,
  `create table provider_clients (
    id text primary key, client_hash text not null, client text not null, updated_at text not null)`,
  `create table provider_sign_ins (state_hash text primary key, details text not null, expires_at text not null)`,

  // Executions.
  `create table executions (
    id text primary key, account_id text not null, api_key_id text, connection_id text not null,
    integration text not null, action_id text not null, tool_name text not null, side_effect_level text not null,
    arguments text not null, status text not null, output text, error text, started_at text not null, finished_at text,
    node_id text)`,
  // Each ends with the id, so that a page needs no sorting: without it SQLite looks through all statuses.
  `create index executions_by_time on executions (account_id, started_at, id)`,
  `create index executions_by_tool on executions (account_id, tool_name, started_at, id)`,
  `create index executions_by_connection on executions (account_id, connection_id, started_at, id)`,
  `create index executions_by_status on executions (status, account_id, started_at, id)`,
  `create table idempotency_keys (
    account_id text not null, key text not null, input_hash text not null, execution_id text not null,
    created_at text not null, expires_at text not null, number integer not null default 0,
    primary key (account_id, key))`,
  `create index idempotency_keys_by_expiry on idempotency_keys (expires_at)`,
  `create index idempotency_keys_by_execution on idempotency_keys (execution_id)`,
  `create index idempotency_keys_by_number on idempotency_keys (number)`,
  `create table usage_days (
    account_id text not null, day text not null, executions integer not null, primary key (account_id, day))`,
  `create table nodes (id text primary key, beats integer not null)`,
  `create table upkeep (id integer primary key, reached_at text not null, seen_at text not null)`,

  // Calls that wait for the owner, and rights of keys and OAuth clients.
  `create table approvals (
    id text primary key, account_id text not null, api_key_id text not null, tool_name text not null,
    integration text not null, connection_id text not null, level text not null, content text not null,
    fingerprint text not null, tool_digest text not null, connection_digest text not null, shape text not null,
    idempotency_key text, input_hash text, status text not null, requested_at text not null, expires_at text not null,
    decided_at text, decided_by text, reason text, execution_id text)`,
  `create index approvals_by_time on approvals (account_id, requested_at, id)`,
  `create index approvals_by_status on approvals (status, account_id, requested_at, id)`,
  `create index approvals_by_caller on approvals (account_id, api_key_id, requested_at, id)`,
  `create index approvals_by_call on approvals (api_key_id, fingerprint, requested_at)`,
  `create index approvals_by_execution on approvals (execution_id)`,
  `create table opened_approvals (
    browser text not null, approval_id text not null, fingerprint text not null, expires_at text not null,
    primary key (browser, approval_id))`,
  `create index opened_approvals_by_expiry on opened_approvals (expires_at)`,
  `create table grants (subject text primary key, scopes text not null, expires_at text)`,

  // The owner's rules about calls.
  `create table rules (
    id text primary key, account_id text not null, content text not null, made_by text not null, made_at text not null)`,

  // Notes to the owner about waiting requests.
  `create table notes (
    id text primary key, target text not null, subject text not null, created_at text not null, message_id text)`,
  `create index notes_by_target on notes (target, created_at, id)`,
  `create index notes_by_age on notes (created_at)`,
  `create table note_targets (
    target text primary key, message_id text, leased_by text, failures integer not null, is_gone integer not null,
    error text, next_at text not null)`,
  `create table note_tests (id text primary key, created_at text not null, node_id text, results text)`,

  // Flows.
  `create table flows (
    id text primary key, account_id text not null, api_key_id text not null, template_key text not null,
    status text not null, trigger_type text not null, input text not null, context text not null,
    current_step text not null, segment integer not null, runner text not null, wake_at text,
    created_at text not null, updated_at text not null, completed_at text)`,
  `create index flows_by_update on flows (account_id, updated_at, id)`,
  `create index flows_by_caller on flows (account_id, api_key_id, updated_at, id)`,
  `create index flows_by_status on flows (status, wake_at)`,
  `create index flows_by_state on flows (account_id, status, wake_at, updated_at, id)`,
  `create table flow_steps (
    flow_id text not null, step_index integer not null, step_key text not null, step_type text not null,
    status text not null, input text, output text, error text, attempts integer not null, started_at text,
    completed_at text, primary key (flow_id, step_index))`,
  `create table flow_calls (key text primary key, flow_id text not null, execution_id text not null)`,
  `create index flow_calls_by_flow on flow_calls (flow_id)`,
  `create index flow_calls_by_execution on flow_calls (execution_id)`,
];

/** Passkeys, and what signed a browser in. */
const PASSKEY_TABLES: readonly string[] = [
  `create table passkeys (
    id text primary key, person_id text not null, credential_id text not null unique, public_key text not null,
    counter text not null, rp_id text not null, name text not null, created_at text not null, last_used_at text)`,
  `create index passkeys_by_person on passkeys (person_id)`,
  `create table spent_challenges (challenge_hash text primary key, expires_at text not null)`,
  `alter table owner_sessions add column passkey_id text`,
  `alter table owner_sessions add column address text`,
];

/** The owner's triggers, what they know, and their events. */
const TRIGGER_TABLES: readonly string[] = [
  `create table triggers (
    id text primary key, account_id text not null, name text not null, content text not null, kind text not null, secrets text,
    made_by text not null, made_at text not null, paused_at text, due_at text, leased_by text, cursor text not null,
    failures integer not null, error text, note text)`,
  `create index triggers_by_due on triggers (due_at)`,
  `create table trigger_marks (
    trigger_id text not null, mark text not null, at text not null, primary key (trigger_id, mark))`,
  `create index trigger_marks_by_age on trigger_marks (trigger_id, at)`,
  `create table trigger_events (
    id text primary key, trigger_id text not null, event_key text not null, at text not null, data text not null,
    status text not null, attempts integer not null, next_at text not null, leased_by text, error text, flow_id text,
    settled_at text, unique (trigger_id, event_key))`,
  `create index trigger_events_by_trigger on trigger_events (trigger_id, at, id)`,
  `create index trigger_events_by_status on trigger_events (status, next_at, id)`,
  `create index trigger_events_by_state on trigger_events (trigger_id, status)`,
  `create index trigger_events_by_end on trigger_events (settled_at, id)`,
];

/** In which order approved calls run, who changed a call before the yes, and who or what let an execution run. */
const DECISION_COLUMNS: readonly string[] = [
  `alter table approvals add column number integer not null default 0`,
  `alter table approvals add column queue text`,
  `alter table approvals add column decision text`,
  `alter table approvals add column behind text`,
  `alter table approvals add column asked_fingerprint text`,
  `alter table approvals add column edited_by text`,
  `update approvals set queue = connection_id where status = 'approved'`,
  `create index approvals_by_number on approvals (number)`,
  `create index approvals_by_queue on approvals (queue, number) where queue is not null`,
  `create unique index approvals_one_running on approvals (queue) where status = 'running'`,
  `create index approvals_by_decision on approvals (decision) where decision is not null`,
  `create index approvals_by_asked_call on approvals (api_key_id, asked_fingerprint, requested_at) where asked_fingerprint is not null`,
  `alter table executions add column permission text`,
];

/** What the files of held calls take, and what each rule let run. */
const HELD_BYTES_AND_RULED: readonly string[] = [
  `alter table approvals add column file_bytes integer not null default 0`,
  `create index approvals_with_files on approvals (file_bytes) where file_bytes > 0`,
  `create index executions_by_rule on executions (account_id, permission, started_at)
    where substr(permission, 1, 12) = '{"by":"rule"'`,
];

/** What was shown has a state beside the call; equal calls are found without it. */
const CALL_FINGERPRINTS: readonly string[] = [
  `alter table approvals add column call_fingerprint text`,
  `update approvals set call_fingerprint = fingerprint where status in ('pending', 'approved', 'running', 'declined')`,
  `drop index approvals_by_call`,
  `create index approvals_by_call on approvals (api_key_id, call_fingerprint, requested_at)`,
];

/** What writes keep so that they can be looked for and undone. */
const KEPT_WRITES: readonly string[] = [
  `create table kept_writes (
    id text primary key, state text not null, intent text not null, after text, bytes integer not null, kept_at text not null
  )`,
  `create index kept_writes_by_age on kept_writes (kept_at)`,
  `create index kept_writes_acting on kept_writes (state) where state = 'acting'`,
];

/** Calls that a human can still stop. */
const DELAYED_CALLS: readonly string[] = [`alter table executions add column waits_until text`];

const runAll = (statements: readonly string[]) => async (db: Kysely<unknown>) => {
  for (const statement of statements) await sql.raw(statement).execute(db);
};

/** By name; they run in the order of their names. */
const MIGRATIONS: Readonly<Record<string, Migration>> = {
  "0001-first-tables": { up: runAll(FIRST_TABLES) },
  "0002-watched-tables": { up: watchTables },
  "0003-first-steps": {
    async up(db: Kysely<unknown>) {
      await sql.raw("alter table accounts add column first_steps_hidden_at text").execute(db);
    },
  },
  "0004-executions-by-device": {
    async up(db: Kysely<unknown>) {
      const columns = "account_id, api_key_id, started_at, id";
      await sql.raw(`create index executions_by_device on executions (${columns})`).execute(db);
    },
  },
  "0005-passkeys": { up: runAll(PASSKEY_TABLES) },
  "0006-triggers": { up: runAll(TRIGGER_TABLES) },
  "0007-templates-of-flows": { up: runAll(["alter table flows add column template text"]) },
  "0008-machine-changes": {
    up: runAll(["create table machine_changes (id text primary key, made_at text not null, content text not null)"]),
  },
  "0009-order-of-decisions": { up: runAll(DECISION_COLUMNS) },
  "0011-held-files-and-uses-of-rules": { up: runAll(HELD_BYTES_AND_RULED) },
  "0012-calls-by-what-was-asked": { up: runAll(CALL_FINGERPRINTS) },
  "0013-kept-writes": { up: runAll(KEPT_WRITES) },
  "0014-delayed-calls": { up: runAll(DELAYED_CALLS) },
};

/**
 * Brings the tables up to date, in one transaction. Most starts find that they are, and load nothing for it.
 *
 * @throws SvcError `invalid_config` when another version has changed the database; the database's own error when a
 *   migration fails.
 */
export async function migrateStore<T>(db: Kysely<T>): Promise<void> {
  if (await isUpToDate(db)) return;
  const { Migrator } = await import("kysely/migration");
  const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ ...MIGRATIONS }) } });
  const { error } = await migrator.migrateToLatest();
  if (error === undefined) return;
  const unknown = /executed migration (\S+) is missing/.exec(error instanceof Error ? error.message : "")?.[1];
  if (unknown === undefined) throw error;
  throw new SvcError("invalid_config", `Another version has changed this database (${unknown}).`, {
    field: "dataDir",
    hint: "Start that version again, or restore the backup made before the upgrade.",
    cause: error,
  });
}

/** Whether exactly these migrations have run; false where that cannot be read, as in an empty database. */
async function isUpToDate<T>(db: Kysely<T>): Promise<boolean> {
  const run = sql<{ name: string }>`select name from kysely_migration order by name`;
  const { rows } = await run.execute(db).catch(() => ({ rows: [] }));
  return rows.map(({ name }) => name).join() === Object.keys(MIGRATIONS).sort().join();
}
