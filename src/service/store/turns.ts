import { createHash } from "node:crypto";
import { type Kysely, PostgresAdapter, sql } from "kysely";

/** Locks of one service among those of other programs in a database: the upper half of the number. */
const SPACE = 7_386_001;

/** True when several processes may use the store at one time. */
export function isShared<T>(store: Kysely<T>): boolean {
  return store.getExecutor().adapter instanceof PostgresAdapter;
}

/**
 * Does what a start does to a database that may be empty, one process at a time. A data folder has one process anyway.
 */
export function inTurnOfStarts<T, Result>(store: Kysely<T>, work: () => Promise<Result>): Promise<Result> {
  return inTurnOf(store, "start", work);
}

/**
 * Does long work that other processes do not do at the same time, outside of any transaction. The lock belongs to a
 * connection, which is held meanwhile, so that it is free again when its process dies. A data folder has one process,
 * which takes care of itself.
 */
export async function inTurnOf<T, Result>(
  store: Kysely<T>,
  name: string,
  work: () => Promise<Result>,
): Promise<Result> {
  if (!isShared(store)) return work();
  return store.connection().execute(async (connection) => {
    const lock = sql`${sql.lit(SPACE)}, ${sql.lit(toNumber(name))}`;
    await sql`select pg_advisory_lock(${lock})`.execute(connection);
    try {
      return await work();
    } finally {
      await sql`select pg_advisory_unlock(${lock})`.execute(connection);
    }
  });
}

/**
 * Lets no other transaction that takes the same turn run beside this one, to its end: for what is counted or looked at
 * before it is changed. SQLite has one transaction at a time anyway.
 */
export async function takeTurn<T>(transaction: Kysely<T>, name: string): Promise<void> {
  if (!isShared(transaction)) return;
  await sql`select pg_advisory_xact_lock(${sql.lit(SPACE)}, ${sql.lit(toNumber(name))})`.execute(transaction);
}

function toNumber(name: string): number {
  return createHash("sha256").update(name).digest().readInt32BE();
}

/**
 * A transaction that does not wait for the disk. What it wrote is there for everybody at once and survives the death of
 * this process; a power cut may undo it, unless a later transaction has waited since. Otherwise like any other.
 */
export async function inSoftTransaction<T, Result>(
  store: Kysely<T>,
  work: (transaction: Kysely<T>) => Promise<Result>,
): Promise<Result> {
  if (isShared(store)) {
    return store.transaction().execute(async (transaction) => {
      await sql`set local synchronous_commit to off`.execute(transaction);
      return work(transaction);
    });
  }
  return store.connection().execute(async (connection) => {
    // SQLite has no such setting for one transaction. Nothing else uses the connection meanwhile.
    await sql`pragma synchronous = normal`.execute(connection);
    try {
      return await connection.transaction().execute(work);
    } finally {
      await sql`pragma synchronous = full`.execute(connection);
    }
  });
}
