import { type Kysely, sql } from "kysely";
import { isShared } from "./turns.ts";

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
