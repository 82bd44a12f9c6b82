import { ServiceError } from "../service-error.ts";

/** Code of the refusal while the database cannot be used. */
const UNAVAILABLE = "database_unavailable";

/** Node's codes for a connection that failed or broke. */
const SOCKET_CODES: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOENT",
]);

/**
 * SQLSTATE codes: connection (08), resources (53), shutdown and start of the server, read-only stand-by, and statements
 * that were given up because they took too long or two of them waited for each other.
 */
const SERVER_CODES = /^(?:08...|53...|57P0[1-5]|57014|25006|25P03|40001|40P01|55P03)$/;

/** Messages of `pg` errors that have no code. */
const DRIVER_MESSAGES =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|not queryable/i;

/** SQLite's BUSY, READONLY, IOERR, FULL and CANTOPEN: another process writes, or the disk is full, read-only or failing. */
const DISK_CODES: ReadonlySet<number> = new Set([5, 8, 10, 13, 14]);
const SQLITE_READONLY = 8;
const SQLITE_FULL = 13;

/**
 * The refusal 503 for a database that cannot be reached or written at the moment; any other error as it is. What the failed
 * statement did is not known when the connection broke while it ran.
 */
export function toStoreError(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof ServiceError) return error;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const isGone = SOCKET_CODES.has(code) || SERVER_CODES.test(code) || DRIVER_MESSAGES.test(error.message);
  const isStuck = code === "ERR_SQLITE_ERROR" && "errcode" in error && DISK_CODES.has(Number(error.errcode) & 0xff);
  if (!isGone && !isStuck) return error;
  const message = isGone ? "The database of this service cannot be reached at the moment." : explainDisk(error);
  return new ServiceError(503, UNAVAILABLE, message, {
    type: "network",
    retryable: true,
    retryAfterSeconds: 2,
    hint: "Wait a moment. Before you send a write again, check with a read whether it took effect.",
    cause: error,
  });
}

function explainDisk(error: Error): string {
  const code = "errcode" in error ? Number(error.errcode) & 0xff : undefined;
  if (code === SQLITE_FULL) return "The disk of this service is full: its database cannot be written.";
  if (code === SQLITE_READONLY) return "The disk of this service is read-only: its database cannot be written.";
  return "The database of this service cannot be written at the moment.";
}

/** SQLite's CORRUPT and NOTADB. */
const DAMAGE_CODES: ReadonlySet<number> = new Set([11, 26]);

/** True for a SQLite file that cannot be read as a database. */
export function isDamaged(error: unknown): boolean {
  return error instanceof Error && "errcode" in error && DAMAGE_CODES.has(Number(error.errcode) & 0xff);
}

/** True for the refusal of {@link toStoreError}. */
export function isStoreUnavailable(error: unknown): error is ServiceError {
  return error instanceof ServiceError && error.code === UNAVAILABLE;
}
