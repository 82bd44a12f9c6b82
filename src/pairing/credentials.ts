import {
  type CredentialFileOptions,
  type Credentials,
  openCredentialFile,
  type PendingPairing,
} from "./credential-file.ts";

export type { Credentials, PendingPairing };

/** The place where the API key is kept. Every change is atomic, durable and safe beside other processes. */
export interface CredentialStore {
  /** Path of the file. */
  readonly path: string;
  /**
   * The stored credentials, or undefined.
   *
   * @throws SvcError `invalid_config` for a file that is a link, not ours, or open to others, with the fix;
   * `credentials_missing` once for a damaged file, which is kept under another name
   */
  read(): Promise<Credentials | undefined>;
  /** Stores credentials and drops the pending pairing, in one step. On return they are on the disk. */
  write(credentials: Credentials): Promise<void>;
  /** Forgets credentials and pending pairing. An OAuth sign-in stays. */
  clear(): Promise<void>;
  readPending(): Promise<PendingPairing | undefined>;
  writePending(pending: PendingPairing): Promise<void>;
  clearPending(): Promise<void>;
}

/**
 * Opens the store in `folder`: one file `credentials.json` of mode 0600, in a folder made with mode 0700.
 * `uid` is the user the file must belong to, by default the one of this process.
 */
export function openCredentialStore(folder: string, options: CredentialFileOptions = {}): CredentialStore {
  const file = openCredentialFile(folder, options);
  return {
    path: file.path,
    read: async () => (await file.read()).credentials,
    write: (credentials) => file.update(({ pending: _ended, ...kept }) => ({ ...kept, credentials })),
    clear: () => file.strip(({ credentials: _key, pending: _ended, ...kept }) => kept),
    readPending: async () => (await file.peek()).pending,
    writePending: (pending) => file.update((content) => ({ ...content, pending })),
    clearPending: () => file.update(({ pending: _dropped, ...kept }) => kept),
  };
}
