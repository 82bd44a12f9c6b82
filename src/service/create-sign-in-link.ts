import { join, resolve } from "node:path";
import { createOwnerSessions } from "./auth/owner-sessions.ts";
import { readServingUrl, STORE_FILE } from "./store/data-folder.ts";
import { findAccount } from "./store/find-account.ts";
import { openStore } from "./store/open-store.ts";

/**
 * Makes a one-time sign-in link for the service that another process runs on this data folder.
 * Whoever may write to the folder is its owner, so nothing else is asked.
 *
 * @throws SvcError `invalid_config`, field `dataDir`, when no service runs there.
 */
export async function createSignInLink({ dataDir }: { dataDir: string }): Promise<string> {
  const folder = resolve(dataDir);
  const url = await readServingUrl(folder);
  const store = await openStore(join(folder, STORE_FILE));
  try {
    const accountId = await findAccount(store);
    if (accountId === undefined) throw new Error("A service that runs has an account.");
    const secret = await createOwnerSessions(store, Date.now).createLink(accountId);
    return `${url}/sign-in?token=${secret}`;
  } finally {
    await store.destroy();
  }
}
