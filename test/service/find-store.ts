import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { openStore, type Store } from "../../src/service/store/open-store.ts";
import { testDefaults } from "../../src/service/test-kit/start-test-service.ts";

/** Options for a service that is to find what a test service keeps for this data folder. */
export async function findStore(dataDir: string): Promise<{ database?: string }> {
  const database = (await testDefaults.forFolder?.(dataDir))?.database;
  return database === undefined ? {} : { database };
}

/** Opens the store that a test service keeps for this data folder; the caller closes it. */
export async function openStoreOf(dataDir: string): Promise<Store> {
  return openStore((await findStore(dataDir)).database ?? join(dataDir, "svc.db"));
}

/** Everything that is stored for this data folder: the bytes of the SQLite file, or all rows of the database. */
export async function readStored(dataDir: string): Promise<string> {
  const { database } = await findStore(dataDir);
  if (database !== undefined) return readRows(database);
  const files = await Promise.all(["svc.db", "svc.db-wal"].map((name) => readFile(join(dataDir, name))));
  return Buffer.concat(files).toString("latin1");
}

async function readRows(database: string): Promise<string> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
    const rows: string[] = [];
    for (const { tablename } of tables.rows) {
      rows.push(JSON.stringify((await client.query(`select * from "${tablename}"`)).rows));
    }
    return rows.join("\n");
  } finally {
    await client.end();
  }
}
