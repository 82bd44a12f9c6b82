import { type Kysely, PostgresAdapter, sql } from "kysely";

/** Any number that nothing else in the database locks by. */
const START_LOCK = 7_386_001;

/** True when several processes may use the store at one time. */
export function isShared<T>(store: Kysely<T>): boolean {
  return store.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Does what a start does to a database that may be empty, one process at a time. A data folder has one process anyway.
 * The lock belongs to a connection, so that it is free again when its process dies.
 */
export async function inTurnOfStarts<T, Result>(store: Kysely<T>, work: () => Promise<Result>): Promise<Result> {
  if (!isShared(store)) return work();
  return store.connection().execute(async (connection) => {
    await sql`select pg_advisory_lock(${sql.lit(START_LOCK)})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(START_LOCK)})`.execute(connection);
    }
  });
}
