import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { SvcError } from "../../shared/errors.ts";
import { STORE_FILE } from "./data-folder.ts";
import { connectStore, findAccount, type Store } from "./open-store.ts";

/** Where a service keeps its data. */
export interface StorePlace {
  readonly dataDir: string;
  /** Address of its database, when that is not a file in the folder. */
  readonly database?: string | undefined;
}

/**
 * Opens the store of a service, whether it runs or not. A process that may read the folder acts for its owner. The caller
 * destroys the store.
 *
 * @throws SvcError `invalid_config`, field `dataDir`, when no service was ever started there; field `database`.
 */
export async function openOwnStore(place: StorePlace): Promise<{ store: Store; accountId: string }> {
  const file = join(resolve(place.dataDir), STORE_FILE);
  // A file that is not there would be made.
  if (place.database === undefined && !existsSync(file)) throw neverStarted();
  const store = await connectStore(place.database ?? file, () => {});
  try {
    const accountId = await findAccount(store);
    if (accountId === undefined) throw neverStarted();
    return { store, accountId };
  } catch (error) {
    await store.destroy();
    throw error;
  }
}

function neverStarted(): SvcError {
  return new SvcError("invalid_config", "No service has been started on this data folder yet.", {
    field: "dataDir",
    hint: 'Start it once with "svc serve", or name its folder with --data.',
  });
}
