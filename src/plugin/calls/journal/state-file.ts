import { chmodSync } from "node:fs";
import { mkdir, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { SvcError } from "../../../shared/errors.ts";
import type { StateFile } from "./journal.ts";

const NAME = "state.db";
const VERSION = 1;
const BUSY_TIMEOUT_MS = 5_000;

const TABLES = `
  CREATE TABLE calls (
    fingerprint TEXT NOT NULL, call_id TEXT NOT NULL, request TEXT, state TEXT NOT NULL, at REAL NOT NULL,
    warned_at REAL, record TEXT NOT NULL, PRIMARY KEY (fingerprint, call_id)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX calls_unanswered ON calls (request) WHERE state IN ('sending', 'probing');
  CREATE TABLE rules (
    principal TEXT NOT NULL, tool TEXT NOT NULL, connection TEXT NOT NULL, added_at TEXT NOT NULL,
    PRIMARY KEY (principal, tool, connection)
  ) STRICT;
  CREATE TABLE accounts (integration TEXT PRIMARY KEY, connection_id TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${VERSION};`;

/**
 * Opens `state.db` (mode 0600) in `folder`, which is created with mode 0700. Any number of processes may have it open,
 * in several containers too. Undefined, with a warning of the process, in a runtime without `node:sqlite`.
 *
 * @throws SvcError `invalid_config`, field `stateDir`, when the file cannot be read or written, is damaged, or was made
 *   by a newer version
 */
export async function openStateFile(folder: string): Promise<StateFile | undefined> {
  const sqlite = await import("node:sqlite").catch(warnOfMissing);
  if (sqlite === undefined) return undefined;
  const path = join(folder, NAME);
  let database: DatabaseSync | undefined;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const isLocal = LOCAL_FILE_SYSTEMS.has((await statfs(folder)).type);
    database = openDatabase(sqlite, path);
    prepareDatabase(database, path, isLocal);
    return toStateFile(database);
  } catch (cause) {
    database?.close();
    throw cause instanceof SvcError ? cause : describeUnusable(path, cause);
  }
}

/** Newer Node versions name the class `Database` and deprecate `DatabaseSync`. */
function openDatabase(sqlite: typeof import("node:sqlite"), path: string): DatabaseSync {
  const Database = "Database" in sqlite ? (sqlite.Database as typeof DatabaseSync) : sqlite.DatabaseSync;
  return new Database(path, { timeout: BUSY_TIMEOUT_MS });
}

function warnOfMissing(): undefined {
  const text = "This runtime has no node:sqlite. What was sent, always allowed and chosen is kept in memory only.";
  process.emitWarning(`${text} After a crash, a write may be made a second time.`, {
    type: "SvcWarning",
    code: "SVC_STATE_IN_MEMORY",
  });
}

/**
 * File systems of one machine, by their number on Linux: ext, xfs, btrfs, tmpfs, overlay, zfs, f2fs and bcachefs. A
 * write-ahead log needs memory that all processes share, which others (NFS, SMB, folders of a virtual machine) lack.
 */
const LOCAL_FILE_SYSTEMS = new Set([
  0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0xf2f52010, 0xca451a4e,
]);

function prepareDatabase(database: DatabaseSync, path: string, isLocal: boolean): void {
  // A short log is soon written over, which is synced faster than a file that grows.
  database.exec("PRAGMA synchronous = FULL; PRAGMA fullfsync = ON; PRAGMA wal_autocheckpoint = 300; BEGIN IMMEDIATE");
  const version = Number(database.prepare("PRAGMA user_version").get()?.user_version);
  if (version > VERSION) throw describeNewer(path, version);
  if (version === 0) {
    // Before there is anything to read in it; other files of SQLite get the same mode.
    chmodSync(path, 0o600);
    database.exec(TABLES);
  }
  // Younger than the others, which versions without it leave alone.
  database.exec("CREATE TABLE IF NOT EXISTS secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT");
  database.exec("SELECT 1 FROM calls, rules, accounts LIMIT 0; COMMIT");
  const mode = database.prepare("PRAGMA journal_mode").get()?.journal_mode;
  const mayShareMemory = isLocal && (version === 0 || mode === "wal");
  database.exec(`PRAGMA journal_mode = ${mayShareMemory ? "WAL" : "TRUNCATE"}`);
}

interface Step {
  /** Does the work; tells the caller how it went once that is certain. */
  run(): () => void;
  fail(cause: unknown): void;
}

function toStateFile(database: DatabaseSync): StateFile {
  let waiting: Step[] = [];
  const carryOut = () => {
    const steps = waiting;
    waiting = [];
    if (steps.length === 0) return;
    try {
      database.exec("BEGIN IMMEDIATE");
      const ends = steps.map((step) => step.run());
      database.exec("COMMIT");
      for (const end of ends) end();
    } catch (cause) {
      if (database.isOpen && database.isTransaction) database.exec("ROLLBACK");
      for (const step of steps) step.fail(cause);
    }
  };
  return {
    prepare: (sql) => database.prepare(sql),
    change: (work) =>
      new Promise((resolve, fail) => {
        const run = () => {
          try {
            const result = work();
            return () => resolve(result);
          } catch (cause) {
            // A full disk ends the transaction, and with it the work of the others.
            if (!database.isTransaction) throw cause;
            return () => fail(cause);
          }
        };
        if (waiting.push({ run, fail }) === 1) setImmediate(carryOut);
      }),
    close() {
      carryOut();
      if (database.isOpen) database.close();
    },
  };
}

function describeNewer(path: string, version: number): SvcError {
  const text = `The state file ${path} was made by a newer version of svc-agent-plugin (${version}, known is ${VERSION}).`;
  return new SvcError("invalid_config", text, { field: "stateDir", hint: "Install that version again." });
}

const LOCKED = 5;
const DAMAGED = [1, 11, 26];

function describeUnusable(path: string, cause: unknown): SvcError {
  const { code, errcode, errstr } = Object(cause) as { code?: unknown; errcode?: unknown; errstr?: unknown };
  const reason = errstr ?? code;
  const text = reason === undefined ? "" : ` (${String(reason)})`;
  const refuse = (what: string, hint: string) =>
    new SvcError("invalid_config", `The state file ${path} ${what}${text}.`, { field: "stateDir", hint, cause });
  const result = typeof errcode === "number" ? errcode & 0xff : undefined;
  if (result === LOCKED) return refuse("is locked by another process", "End the process that holds it, and try again.");
  if (result === undefined || !DAMAGED.includes(result)) {
    const hint = "Check the owner and the mode of the folder, and the space on its disk.";
    return refuse("cannot be used", hint);
  }
  const steps = `Look in the apps for the latest writes, then move ${NAME} and the files beside it that begin with its name away`;
  return refuse("is damaged", `It knows which writes were sent and never answered. ${steps}, and start again.`);
}
