import { mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { findPlaces } from "./context.ts";

/**
 * Has Node keep what it compiles of this package and its dependencies in the cache folder, so that the next command
 * starts faster. Does nothing where that folder cannot be made or belongs to another user, who could put code into it.
 */
export function keepCompiledCode(env: NodeJS.ProcessEnv): void {
  // Node keeps it there already.
  if (env.NODE_COMPILE_CACHE) return;
  try {
    const folder = join(findPlaces(env).cache, "compiled-code");
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = statSync(folder);
    if (process.getuid !== undefined && (uid !== process.getuid() || (mode & 0o022) !== 0)) return;
    process.getBuiltinModule("node:module").enableCompileCache(folder);
  } catch {
    // Nothing is kept.
  }
}
