import { realpath, stat } from "node:fs/promises";
import { isAbsolute, join, sep } from "node:path";

/**
 * Why a folder cannot be connected, for the owner who typed its path; undefined when it can.
 *
 * A folder that holds the service's own data is refused: a tool that reads files would read the database and its key.
 */
export async function checkFolder(path: string, dataDir: string): Promise<string | undefined> {
  if (!isAbsolute(path)) return "Give the whole path, beginning at the root of the disk.";
  let real: string;
  try {
    real = await realpath(path);
    if (!(await stat(real)).isDirectory()) return "This is not a folder.";
  } catch (error) {
    return explain(error);
  }
  const own = await realpath(dataDir);
  const blobs = join(own, "blobs");
  if (isInside(own, real) || isInside(real, blobs))
    return "The service keeps its own data there. Choose another folder.";
  return undefined;
}

/** True when `path` is `folder` or lies below it. */
function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}

function explain(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "ENOENT") return "There is no such folder on the machine that runs the service. Create it first.";
  if (code === "ENOTDIR") return "This is not a folder.";
  if (code === "EACCES") return "The service may not look there. Give its user access first.";
  return "This path cannot be used.";
}
