import { access, realpath } from "node:fs/promises";
import path from "node:path";
import { SvcError } from "../../errors.ts";
import { isDeniedName, SERVICE_FILES } from "./denied-names.ts";

/** A folder whose files are never sent: the state of a runtime, with its configuration and keys. */
export interface PrivateFolder {
  /** Absolute path. */
  readonly folder: string;
  /** True for the name of a folder directly below it in which a root may lie all the same. */
  mayHoldRoots(name: string): boolean;
}

/** What no root may touch. */
export interface RootRules {
  readonly home: string;
  readonly privateFolders: readonly PrivateFolder[];
}

/** Refused with everything below them. */
const SYSTEM_TREES = [
  ...["/proc", "/sys", "/etc", "/boot", "/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/var/log", "/var/spool"],
  ...["/System", "/Library", "/private/etc"],
];
/** Refused themselves; folders of users and services lie below them. */
const SYSTEM_FOLDERS = [
  ...[
    "/dev",
    "/var",
    "/var/lib",
    "/var/cache",
    "/run",
    "/run/user",
    "/home",
    "/root",
    "/opt",
    "/srv",
    "/mnt",
    "/media",
  ],
  ...["/private", "/private/var", "/Users", "/Applications", "/Volumes"],
];

/**
 * Refuses a folder from which more could be read than files meant to be sent. Call it with the path as configured and
 * again with its links resolved.
 *
 * @throws SvcError `invalid_config`
 */
export async function refuseUnsafeRoot(folder: string, resolved: string, rules: RootRules): Promise<void> {
  if (path.parse(resolved).root === resolved) throw badRoot(folder, "it is the whole file system");
  for (const home of await spellings(rules.home)) {
    if (isSameOrBelow(home, resolved)) throw badRoot(folder, "it contains the home folder");
  }
  if (SYSTEM_FOLDERS.includes(resolved) || SYSTEM_TREES.some((tree) => isSameOrBelow(resolved, tree))) {
    throw badRoot(folder, "it belongs to the operating system");
  }
  if (resolved.split(path.sep).some(isDeniedName)) throw badRoot(folder, "folders like this hold secrets");
  if (await isInService(resolved)) throw badRoot(folder, "it lies in the data folder of a service");
  for (const one of rules.privateFolders) await refusePrivate(folder, resolved, one);
}

/** True below a folder that holds the database or the key of a service. */
async function isInService(resolved: string): Promise<boolean> {
  for (let above = path.dirname(resolved); above !== path.dirname(above); above = path.dirname(above)) {
    for (const name of SERVICE_FILES) {
      const isThere = await access(path.join(above, name)).then(
        () => true,
        () => false,
      );
      if (isThere) return true;
    }
  }
  return false;
}

async function refusePrivate(folder: string, resolved: string, secret: PrivateFolder): Promise<void> {
  for (const state of await spellings(secret.folder)) {
    if (isSameOrBelow(state, resolved)) throw badRoot(folder, "it contains the state folder of the runtime");
    const name = path.relative(state, resolved).split(path.sep)[0] ?? "";
    if (isSameOrBelow(resolved, state) && !secret.mayHoldRoots(name))
      throw badRoot(folder, "it lies in the state folder of the runtime");
  }
}

/** The path as it was given and with its links resolved. */
async function spellings(folder: string): Promise<readonly string[]> {
  const given = path.resolve(folder);
  return [given, await realpath(given).catch(() => given)];
}

function isSameOrBelow(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith(path.sep) ? outer : outer + path.sep);
}

/** The error for a folder that cannot be a media root; `why` completes "cannot be a media folder: …". */
export function badRoot(folder: string, why: string, cause?: unknown): SvcError {
  return new SvcError("invalid_config", `"${folder}" cannot be a media folder: ${why}.`, {
    field: "mediaRoots",
    hint: "Name a folder made for files to be sent, such as ~/svc-files.",
    cause,
  });
}
