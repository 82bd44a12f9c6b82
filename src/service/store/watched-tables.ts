import { type Kysely, PostgresAdapter, sql } from "kysely";

/**
 * What callers may see and do stands in these tables, each with the columns whose update changes it; without a list, any.
 * Whoever keeps rows of another table by the state of the store watches it first, in a migration of its own.
 */
const WATCHED: Readonly<Record<string, readonly string[] | undefined>> = {
  // Not the time of last use, which nothing kept depends on.
  api_keys: ["id", "account_id", "key_hash", "revoked_at"],
  grants: undefined,
  rules: undefined,
  connections: undefined,
  integration_sources: undefined,
};

/**
 * Makes each change of the watched tables leave a new mark in its transaction. A mark never comes back, also when the
 * change is undone or an older copy of the database is put in its place.
 */
export async function watchTables(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter;
  const newMark = isPostgres ? "gen_random_uuid()::text" : "lower(hex(randomblob(16)))";
  const statements = [
    "create table store_mark (id integer primary key, mark text not null)",
    `insert into store_mark (id, mark) values (1, ${newMark})`,
    ...(isPostgres ? [markFunction(newMark)] : []),
  ];
  const act = isPostgres ? "for each statement execute function set_store_mark()" : `begin ${setMark(newMark)}; end`;
  for (const [table, columns] of Object.entries(WATCHED)) {
    const update = columns === undefined ? "update" : `update of ${columns.join(", ")}`;
    for (const [name, change] of [
      ["insert", "insert"],
      ["delete", "delete"],
      ["update", update],
    ] as const) {
      statements.push(`create trigger mark_${table}_${name} after ${change} on ${table} ${act}`);
    }
  }
  for (const statement of statements) await sql.raw(statement).execute(db);
}

function setMark(newMark: string): string {
  return `update store_mark set mark = ${newMark}`;
}

function markFunction(newMark: string): string {
  return `create function set_store_mark() returns trigger language plpgsql as $$
    begin ${setMark(newMark)}; return null; end $$`;
}
