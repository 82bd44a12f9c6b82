import { closeSync, constants, openSync } from "node:fs";
import * as sqlite from "node:sqlite";
import { Kysely, type SqliteDatabase, SqliteDialect } from "kysely";
import { migrateStore } from "./migrations.ts";
import type { Tables } from "./schema.ts";

/** The one place where a database dialect is chosen; everything else speaks Kysely. */
export type Store = Kysely<Tables>;

/** Milliseconds a statement waits for another process that is writing (a login link made from a second terminal). */
const BUSY_TIMEOUT_MS = 5000;

/**
 * Opens the SQLite file, makes it readable by its owner only, and brings its tables up to date.
 * Every commit is on disk before it returns (WAL with `synchronous=FULL`).
 */
export async function openStore(file: string): Promise<Store> {
  // SQLite gives the -wal and -shm files the mode of the main file, so it must exist with 0600 first.
  closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  const database = openSqlite(file);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  const store = new Kysely<Tables>({ dialect: new SqliteDialect({ database: asKyselyDatabase(database) }) });
  try {
    await migrateStore(store);
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

/** Gives a node:sqlite database the better-sqlite3 shape that Kysely's dialect expects. */
function asKyselyDatabase(database: sqlite.DatabaseSync): SqliteDatabase {
  return {
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      const bind = (parameters: readonly unknown[]) => parameters as sqlite.SQLInputValue[];
      return {
        reader: statement.columns().length > 0,
        all: (parameters) => statement.all(...bind(parameters)),
        run: (parameters) => statement.run(...bind(parameters)),
        iterate: (parameters) => statement.iterate(...bind(parameters)),
      };
    },
  };
}
