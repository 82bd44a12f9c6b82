import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import type { Store } from "../../store/open-store.ts";
import { isShared } from "../../store/turns.ts";
import type { FlowEngine } from "./flow-engine.ts";

/** The lock's number, chosen at random, so that other programs in the database do not take it. */
const LOCK = 4_208_417_663_051;
const TRY_MS = 100;

/**
 * Opens an engine while no other process does: it makes its tables when it is opened first. Asks for its turn again and
 * again instead of waiting for the lock, because a statement that waits holds up the making of an index for ever.
 */
export async function openInTurn(store: Store, open: () => Promise<FlowEngine>): Promise<FlowEngine> {
  if (!isShared(store)) return open();
  return store.connection().execute(async (connection) => {
    const take = sql<{ taken: boolean }>`select pg_try_advisory_lock(${sql.lit(LOCK)}) as taken`;
    while ((await take.execute(connection)).rows[0]?.taken !== true) await sleep(TRY_MS);
    try {
      return await open();
    } finally {
      await sql`select pg_advisory_unlock(${sql.lit(LOCK)})`.execute(connection);
    }
  });
}
