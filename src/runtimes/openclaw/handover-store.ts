import type { CredentialStore, Credentials } from "../../pairing/credentials.ts";

/**
 * A store for a pairing whose key another store will keep: a pending session lives in `pending`, so that a crash can be
 * continued, the key only in memory until it is handed over.
 */
export function createHandoverStore(pending: CredentialStore): CredentialStore {
  let held: Credentials | undefined;
  return {
    path: pending.path,
    read: async () => held,
    async write(credentials) {
      held = credentials;
      // A session that stays behind is spent: the next pairing finds that out and starts anew.
      await pending.clearPending().catch(() => undefined);
    },
    async clear() {
      held = undefined;
      await pending.clearPending();
    },
    readPending: () => pending.readPending(),
    writePending: (session) => pending.writePending(session),
    clearPending: () => pending.clearPending(),
  };
}
