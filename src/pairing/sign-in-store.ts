import { withWriteLock } from "../approvals/write-lock.ts";
import { type CredentialFileOptions, openCredentialFile, type SignIn } from "./credential-file.ts";

/** A renewal is one request of at most 15 s; waiting ends after a few of them. */
const RENEWAL = { staleAfterMs: 60_000, giveUpAfterMs: 45_000 };

/** The place where an OAuth sign-in is kept: the same file as the API key. */
export interface SignInStore {
  /** Path of the file. */
  readonly path: string;
  /** The stored sign-in, or undefined. Throws as reading the key does. */
  read(): Promise<SignIn | undefined>;
  /** Stores a new sign-in in place of the one before. On return it is on the disk. */
  write(signIn: SignIn): Promise<void>;
  /** Stores new tokens of a sign-in; false, and nothing is changed, when it is not the stored one any more. */
  renew(signIn: SignIn): Promise<boolean>;
  /** Forgets the sign-in. The key stays. */
  clear(): Promise<void>;
  /**
   * Runs `work` while no other process renews or ends the stored sign-in: a refresh token is good once, and whoever
   * comes second must see what the first one got for it.
   */
  inTurn<T>(work: () => Promise<T>): Promise<T>;
}

/** Opens the store in `folder`, with the rules of the credential file. */
export function openSignInStore(folder: string, options: CredentialFileOptions = {}): SignInStore {
  const file = openCredentialFile(folder, options);
  return {
    path: file.path,
    read: async () => (await file.read()).signIn,
    write: (signIn) => file.update((content) => ({ ...content, signIn })),
    async renew(signIn) {
      let isKnown = false;
      await file.update((content) => {
        isKnown = content.signIn?.signInId === signIn.signInId;
        return isKnown ? { ...content, signIn } : content;
      });
      return isKnown;
    },
    clear: () => file.strip(({ signIn: _ended, ...kept }) => kept),
    inTurn: (work) => withWriteLock(`${file.path}.renewal.lock`, work, RENEWAL),
  };
}
