import { closeSync, constants, openSync } from "node:fs";
import * as sqlite from "node:sqlite";
import { type Dialect, Kysely, SqliteAdapter, type SqliteDatabase, SqliteDialect } from "kysely";
import { SvcError } from "../../errors.ts";
import type { ServiceLog } from "../service-log.ts";
import { migrateStore } from "./migrations.ts";
import { createPostgresDialect, isPostgresUrl } from "./open-postgres.ts";
import type { Tables } from "./schema.ts";
import { toStoreError } from "./store-errors.ts";
import { inTurnOfStarts } from "./turns.ts";

/** The one place where a database dialect is chosen; everything else speaks Kysely. */
export type Store = Kysely<Tables>;

/** Milliseconds a statement waits for another process that is writing (a login link made from a second terminal). */
const BUSY_TIMEOUT_MS = 5000;

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

/** Opens a SQLite file. Newer Node versions name the class `Database` and deprecate `DatabaseSync`. */
export function openSqlite(file: string, timeout = BUSY_TIMEOUT_MS): sqlite.DatabaseSync {
  const Database = "Database" in sqlite ? (sqlite.Database as typeof sqlite.DatabaseSync) : sqlite.DatabaseSync;
  return new Database(file, { timeout });
}

/** A SQLite file in WAL mode with `synchronous=FULL`. */
function createSqliteDialect(file: string): Dialect {
  // SQLite gives the -wal and -shm files the mode of the main file, so it must exist with 0600 first.
  closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  const database = openSqlite(file);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  return new TransactionalDialect({ database: asKyselyDatabase(database) });
}

/** SQLite can roll back changes of tables, although Kysely does not use that by itself. */
class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}

class TransactionalDialect extends SqliteDialect {
  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }
}

const NOTHING_CHANGED = { changes: 0, lastInsertRowid: 0 } as const;

/** Gives a node:sqlite database the better-sqlite3 shape that Kysely's dialect expects. */
function asKyselyDatabase(database: sqlite.DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      // A transaction that reads first could not write once another process has: waiting does not help it then.
      const statement = explain(() => database.prepare(sql === "begin" ? "begin immediate" : sql));
      // A full disk ends a transaction by itself; the complaint about its roll-back would hide why.
      const isOver = () => sql === "rollback" && !database.isTransaction;
      const bind = (parameters: readonly unknown[]) => parameters as sqlite.SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => explain(() => statement.all(...bind(parameters))),
        run: (parameters) => (isOver() ? NOTHING_CHANGED : explain(() => statement.run(...bind(parameters)))),
        iterate: (parameters) => explain(() => statement.iterate(...bind(parameters))),
      };
    },
  };
}

/** A full disk is told apart from a mistake of ours. */
function explain<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error);
  }
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
    if (!isPostgresUrl(place) || cause instanceof SvcError) throw cause;
    const { host, pathname } = new URL(place);
    throw new SvcError("invalid_config", `The database ${host}${pathname} cannot be used: ${findReason(cause)}.`, {
      field: "database",
      hint: "Check that the server runs, that the database exists, and that its user may create tables.",
      cause,
    });
  }
}

/** What the driver said, below what the service makes of it. */
function findReason(error: unknown): string {
  if (!(error instanceof Error)) return "the reason is not known";
  return error.cause instanceof Error ? findReason(error.cause) : error.message || error.name;
}

/** Id of the owner's account; undefined before the first start is complete. */
export async function findAccount(store: Store): Promise<string | undefined> {
  const account = await store.selectFrom("accounts").select("id").orderBy("created_at").executeTakeFirst();
  return account?.id;
}
