import { SvcError } from "../../errors.ts";
import type { ServiceLog } from "../service-log.ts";
import { isPostgresUrl } from "./open-postgres.ts";
import { openStore, type Store } from "./open-store.ts";

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
