import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Account } from "./check-write.ts";

/** A folder of this machine: files by their paths, folders by a path with a slash at its end. */
export function openFolderAccount(
  root: string,
  { settings, keepsFolders = false }: { readonly settings: Record<string, unknown>; readonly keepsFolders?: boolean },
): Account {
  return {
    settings,
    async fill(things) {
      for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
      for (const [path, bytes] of things) {
        mkdirSync(join(root, path.endsWith("/") ? path : dirname(path)), { recursive: true });
        if (!path.endsWith("/")) writeFileSync(join(root, path), bytes, "latin1");
      }
    },
    async look() {
      const entries = readdirSync(root, { recursive: true, withFileTypes: true });
      const found = entries.flatMap((entry): [string, string][] => {
        const whole = join(entry.parentPath, entry.name);
        const path = whole.slice(root.length + 1);
        if (entry.isDirectory()) return keepsFolders ? [[`${path}/`, ""]] : [];
        return [[path, readFileSync(whole, "latin1")]];
      });
      return new Map(found);
    },
  };
}
