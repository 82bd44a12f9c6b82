import { createHash } from "node:crypto";
import { Kysely, PostgresAdapter, sql } from "kysely";
import { z } from "zod";
import { SvcError } from "../../shared/errors.ts";
import type { ServiceLog } from "../service-error.ts";
import { migrateStore } from "./migrations.ts";
import { createPostgresDialect, isPostgresUrl } from "./open-postgres.ts";
import { createSqliteDialect } from "./open-sqlite.ts";
import type { Tables } from "./schema.ts";
import { isDamaged } from "./store-errors.ts";

/** The one place where a database dialect is chosen; everything else speaks Kysely. */
export type Store = Kysely<Tables>;

/**
 * Opens a store and brings its tables up to date; processes that do so at one time take turns.
 *
 * @param place path of a SQLite file, or address of a PostgreSQL database (`postgres://…`). The file is made readable by
 *   its owner only. Either has every commit on disk before it returns.
 * @param onFault told of connections to the database that broke while nobody used them.
 * @throws ServiceError 503 when the database cannot be reached or written.
 */
export async function openStore(place: string, onFault: (reason: string) => void = () => {}): Promise<Store> {
  const dialect = isPostgresUrl(place) ? await createPostgresDialect(place, onFault) : createSqliteDialect(place);
  const store = new Kysely<Tables>({ dialect });
  try {
    await inTurnOfStarts(store, () => migrateStore(store));
  } catch (cause) {
    await store.destroy();
    throw cause;
  }
  return store;
}

/**
 * Opens the store of a service that starts.
 *
 * @param place path of a SQLite file, or address of a PostgreSQL database.
 * @throws SvcError `invalid_config`, field `database`, when the database cannot be used; its password is not named.
 */
export async function connectStore(place: string, log: ServiceLog): Promise<Store> {
  const onFault = (cause: string) => log({ level: "warn", message: "A connection to the database broke.", cause });
  try {
    return await openStore(place, onFault);
  } catch (cause) {
    if (cause instanceof SvcError) throw cause;
    if (!isPostgresUrl(place)) throw isDamaged(cause) ? refuseDamaged(place, cause) : cause;
    const { host, pathname } = new URL(place);
    throw new SvcError("invalid_config", `The database ${host}${pathname} cannot be used: ${findReason(cause)}.`, {
      field: "database",
      hint: "Check that the server runs, that the database exists, and that its user may create tables.",
      cause,
    });
  }
}

function refuseDamaged(file: string, cause: unknown): SvcError {
  return new SvcError("invalid_config", `The database ${file} is damaged: ${findReason(cause)}.`, {
    field: "dataDir",
    hint: 'Restore a backup: "svc restore FILE --replace" keeps the damaged folder beside it.',
    cause,
  });
}

/** The driver's message, from the innermost cause. */
function findReason(error: unknown): string {
  if (!(error instanceof Error)) return "the reason is not known";
  return error.cause instanceof Error ? findReason(error.cause) : error.message || error.name;
}

/** Id of the owner's account; undefined before the first start is complete. */
export async function findAccount(store: Store): Promise<string | undefined> {
  const account = await store.selectFrom("accounts").select("id").orderBy("created_at").executeTakeFirst();
  return account?.id;
}

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

/** A column that holds JSON text; refuses invalid JSON. */
export const jsonText = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: "custom", message: "is not JSON" });
    return z.NEVER;
  }
});
