import { chmod, stat } from "node:fs/promises";
import { parse } from "node:path";

const OTHERS = 0o077;
const STICKY = 0o1000;

/**
 * Takes every right on a folder from its group and from others. Answers why they keep theirs when they do: such a folder
 * works too, and the volume of a container can often be neither changed nor exchanged by who runs in it.
 *
 * @param uid the user of this process; undefined on Windows, which has no modes: nothing is done there
 */
export async function closeFolder(path: string, uid: number | undefined): Promise<string | undefined> {
  if (uid === undefined) return undefined;
  const { mode, uid: owner } = await stat(path);
  if ((mode & OTHERS) === 0) return undefined;
  if (owner !== uid) return `it belongs to user ${owner}, and this process is user ${uid}`;
  // The rights of /tmp or / are not to be taken from a whole machine.
  if ((mode & STICKY) !== 0 || path === parse(path).root) return "it is a folder that all users share";
  const isChanged = await chmod(path, mode & ~OTHERS & 0o7777).then(
    () => true,
    () => false,
  );
  // Some file systems take the change and keep the mode of their mount.
  if (isChanged && ((await stat(path)).mode & OTHERS) === 0) return undefined;
  return "its file system does not let this process change that";
}
