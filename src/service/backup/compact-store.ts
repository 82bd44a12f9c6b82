import { existsSync } from "node:fs";
import { stat } from "node:fs/promises";
import { join, resolve } from "node:path";
import { SvcError } from "../../shared/errors.ts";
import { isServed, STORE_FILE } from "../store/data-folder.ts";
import { openSqlite } from "../store/open-sqlite.ts";

/**
 * Gives the disk back what a database no longer needs. Takes up to twice the size of its content while it runs.
 *
 * @returns bytes of the database before and after
 * @throws SvcError `invalid_config`, field `dataDir`, while a service runs on the folder, or without a SQLite database
 */
export async function compactStore(place: string): Promise<{ before: number; after: number }> {
  const dataDir = resolve(place);
  const file = join(dataDir, STORE_FILE);
  if (!existsSync(file)) {
    const hint = "Name the service's folder with --data. A service on PostgreSQL needs no compacting.";
    throw refuse(`There is no database of a service in ${dataDir}.`, hint);
  }
  // Every write would wait meanwhile, some too long.
  if (await isServed(dataDir)) throw refuse(`A service runs on ${dataDir}.`, "Stop it first.");
  const before = await measure(file);
  const database = openSqlite(file);
  try {
    database.exec("VACUUM; PRAGMA wal_checkpoint(TRUNCATE)");
  } finally {
    database.close();
  }
  return { before, after: await measure(file) };
}

async function measure(file: string): Promise<number> {
  const sizes = await Promise.all([file, `${file}-wal`].map((one) => stat(one).catch(() => ({ size: 0 }))));
  return sizes.reduce((sum, { size }) => sum + size, 0);
}

function refuse(message: string, hint: string): SvcError {
  return new SvcError("invalid_config", message, { field: "dataDir", hint });
}
