import { PostgresDialect, type PostgresPoolClient } from "kysely";
import type { PoolClient, PoolConfig } from "pg";
import { SvcError } from "../../shared/errors.ts";
import { toStoreError } from "./store-errors.ts";

const POOL_SIZE = 10;
const CONNECT_TIMEOUT_MS = 5_000;
/** Milliseconds. A process that stopped dead must not hold the rows of others for longer than this. */
const STATEMENT_TIMEOUT_MS = 30_000;
/** Noticed by the client too, when the network swallows the answer. */
const QUERY_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000;

/** True for the address of a PostgreSQL database, as opposed to the path of a SQLite file. */
export function isPostgresUrl(place: string): boolean {
  return /^postgres(ql)?:\/\//i.test(place);
}

/**
 * Speaks to PostgreSQL through `pg`.
 *
 * @param onFault told of connections that broke while nobody used them.
 * @throws SvcError `invalid_config`, field `database`, when the package `pg` is not installed.
 */
export async function createPostgresDialect(url: string, onFault: (reason: string) => void): Promise<PostgresDialect> {
  const { Pool } = await loadDriver();
  const pool = new Pool(describePool(url));
  pool.on("error", (error) => onFault(error.message));
  // Without a listener a connection that breaks during a query ends the process; the query itself is rejected anyway.
  pool.on("connect", (client) => client.on("error", () => {}));
  return new PostgresDialect({
    pool: {
      options: {},
      connect: async () => guardClient(await pool.connect().catch(rethrow)),
      end: () => pool.end(),
    },
  });
}

function describePool(connectionString: string): PoolConfig {
  return {
    connectionString,
    application_name: "svc",
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
  };
}

const guarded = new WeakMap<PoolClient, PostgresPoolClient>();

/** The same object for the same connection: Kysely remembers connections by it. */
function guardClient(client: PoolClient): PostgresPoolClient {
  const known = guarded.get(client) ?? createGuard(client);
  guarded.set(client, known);
  return known;
}

function createGuard(client: PoolClient): PostgresPoolClient {
  /** Set when what the server still does with this connection is not known. */
  let broken: Error | undefined;
  async function query(statement: string, parameters: readonly unknown[]) {
    try {
      return await client.query(statement, parameters.map(toText));
    } catch (error) {
      const known = toStoreError(error);
      if (known !== error && error instanceof Error) broken = error;
      throw known;
    }
  }
  return Object.assign(Object.create(client) as PoolClient, {
    query,
    release: (discard?: boolean) => client.release(broken ?? discard),
  });
}

/** PostgreSQL has no text with a NUL in it; SQLite has. Only outside of JSON, which writes it as an escape. */
function toText(value: unknown): unknown {
  return typeof value === "string" && value.includes("\0") ? value.replaceAll("\0", "\uFFFD") : value;
}

function rethrow(error: unknown): never {
  throw toStoreError(error);
}

async function loadDriver() {
  try {
    return await import("pg");
  } catch (cause) {
    throw new SvcError("invalid_config", "A PostgreSQL database needs the package pg.", {
      field: "database",
      hint: "Install it beside this package: npm install pg@8",
      cause,
    });
  }
}
