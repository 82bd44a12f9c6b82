import { join, resolve } from "node:path";
import { SvcError } from "../shared/errors.ts";
import { createOwnerSessions } from "./auth/owner-sessions.ts";
import { readServingUrl, STORE_FILE } from "./store/data-folder.ts";
import { connectStore, findAccount } from "./store/open-store.ts";

/**
 * Makes a one-time sign-in link for the service that another process runs on this data folder.
 * Write access to the folder proves the owner, so no credential is needed.
 *
 * @param o.database the database of that service, when it is not a file in the folder.
 * @throws SvcError `invalid_config`, field `dataDir`, when no service runs there; field `database`.
 */
export async function createSignInLink(o: { dataDir: string; database?: string | undefined }): Promise<string> {
  const folder = resolve(o.dataDir);
  const url = await readServingUrl(folder);
  const store = await connectStore(o.database ?? join(folder, STORE_FILE), () => {});
  try {
    const accountId = await findAccount(store);
    if (accountId === undefined) throw noAccount(o.database);
    const secret = await createOwnerSessions(store, Date.now).createLink(accountId);
    return `${url}/sign-in?token=${secret}`;
  } finally {
    await store.destroy();
  }
}

function noAccount(database: string | undefined): SvcError {
  return new SvcError("invalid_config", "The service on this folder does not keep its data there.", {
    field: database === undefined ? "dataDir" : "database",
    hint: "Name the database that the service was started with (svc login-link --database …).",
  });
}
