import { closeSync, constants, openSync } from "node:fs";
import * as sqlite from "node:sqlite";
import { type Dialect, SqliteAdapter, type SqliteDatabase, SqliteDialect } from "kysely";
import { keepNewest } from "../../shared/base/newest.ts";
import { toStoreError } from "./store-errors.ts";

/** Milliseconds a statement waits for another process that is writing (a login link made from a second terminal). */
const BUSY_TIMEOUT_MS = 5000;

/** Opens a SQLite file. Newer Node versions name the class `Database` and deprecate `DatabaseSync`. */
export function openSqlite(file: string, options: sqlite.DatabaseSyncOptions = {}): sqlite.DatabaseSync {
  const Database = "Database" in sqlite ? (sqlite.Database as typeof sqlite.DatabaseSync) : sqlite.DatabaseSync;
  return new Database(file, { timeout: BUSY_TIMEOUT_MS, ...options });
}

/** What the log of writes keeps on the disk: a large one, such as of an app with thousands of actions, is cut to it. */
export const KEPT_WAL_BYTES = 8 * 1024 * 1024;

/** Speaks to a SQLite file in WAL mode with `synchronous=FULL`. */
export function createSqliteDialect(file: string): Dialect {
  // SQLite gives the -wal and -shm files the mode of the main file, so it must exist with 0600 first.
  closeSync(openSync(file, constants.O_CREAT | constants.O_RDWR, 0o600));
  const database = openSqlite(file);
  database.exec("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON");
  // Of macOS alone: its disks keep what a plain flush gives them in a memory of their own.
  database.exec("PRAGMA fullfsync=ON");
  database.exec(`PRAGMA journal_size_limit=${KEPT_WAL_BYTES}`);
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
/** Compiled statements that are kept: more than the service has; only lists of values have many forms. */
const MAX_KEPT = 200;
/** Statements that may be kept: others are rare, and a pragma may act when it is compiled. */
const KEPT = /^\s*(?:select|insert|update|delete|with|begin|commit|rollback)\b/i;

/** Gives a node:sqlite database the better-sqlite3 shape that Kysely's dialect expects; compiles each text once. */
function asKyselyDatabase(database: sqlite.DatabaseSync): SqliteDatabase {
  const kept = new Map<string, ReturnType<typeof compile>>();
  return {
    close: () => database.close(),
    prepare(sql) {
      if (!KEPT.test(sql)) return compile(database, sql);
      return keepNewest(kept, sql, MAX_KEPT, () => compile(database, sql));
    },
  };
}

function compile(database: sqlite.DatabaseSync, sql: string): ReturnType<SqliteDatabase["prepare"]> {
  // A transaction that reads first could not write once another process has: waiting does not help it then.
  const statement = explain(() => database.prepare(sql === "begin" ? "begin immediate" : sql));
  // A full disk ends a transaction by itself; the complaint about its roll-back would hide why.
  const isOver = () => sql === "rollback" && !database.isTransaction;
  const bind = (parameters: readonly unknown[]) => parameters as sqlite.SQLInputValue[];
  return {
    reader: statement.columns().length > 0,
    all: (parameters) => explain(() => statement.all(...bind(parameters))),
    run: (parameters) => (isOver() ? NOTHING_CHANGED : explain(() => statement.run(...bind(parameters)))),
    // Of its own, since its rows are fetched while others use this one.
    iterate: (parameters) => explain(() => database.prepare(sql).iterate(...bind(parameters))),
  };
}

/** Works on a SQLite file; a full disk is told apart from a mistake of ours. Throws ServiceError 503 for it. */
export function explain<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toStoreError(error);
  }
}
