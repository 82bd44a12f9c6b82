const SECRET_FOLDERS: readonly string[] = [
  ".ssh",
  ".aws",
  ".azure",
  ".gnupg",
  ".kube",
  ".docker",
  ".claude",
  ".password-store",
  "keychains",
];

const SECRET_FILES: readonly string[] = [
  ".netrc",
  ".pgpass",
  ".git-credentials",
  ".npmrc",
  ".pypirc",
  "credentials",
  "credentials.json",
  "auth-profiles.json",
  "openclaw.json",
  "clawdbot.json",
  "svc.db",
  "svc.db-wal",
  "svc.db-shm",
  "svc.db-journal",
  "connection-secrets.key",
  "ingest-secret",
];

/** Files that show a folder to be the data of a service: nothing below it is meant to be sent either. */
export const SERVICE_FILES: readonly string[] = ["svc.db", "connection-secrets.key"];

/** Files that show a folder to be the state of a runtime or a service, with its keys beside them. */
const STATE_FILES: readonly string[] = ["openclaw.json", "clawdbot.json", "credentials.json", ...SERVICE_FILES];

const PRIVATE_KEY = /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/;

/**
 * A name as the most forgiving file system compares it: decomposed, without case, and without the characters that show
 * nothing.
 */
export function foldName(name: string): string {
  const bare = name.normalize("NFD").replace(/\p{Default_Ignorable_Code_Point}/gu, "");
  // Some letters, such as the long s, match their equivalents only in capitals.
  return bare.toLowerCase().toUpperCase().toLowerCase();
}

/**
 * True when a path component usually means secrets. This is the second layer behind the media roots, so it only
 * has to be cheap. Characters that {@link foldName} ignores are ignored on every system, as a file system may do.
 */
export function isDeniedName(component: string): boolean {
  const name = foldName(component);
  return (
    SECRET_FOLDERS.includes(name) ||
    SECRET_FILES.includes(name) ||
    name === ".env" ||
    name.startsWith(".env.") ||
    PRIVATE_KEY.test(name)
  );
}

/** The first of these names that shows their folder to hold secrets, or the state of a runtime or service. */
export function findSecretEntry(entries: readonly string[]): string | undefined {
  return entries.find((entry) => [...SECRET_FOLDERS, ...STATE_FILES].includes(foldName(entry)));
}
