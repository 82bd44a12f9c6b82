import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { listRuntimePackages } from "./release/runtime-packages.ts";

/** An import in code, not in a comment. */
const IMPORT = /^(?!\s*(?:\*|\/[/*])).*(?:\bfrom |\bimport\()"((?:@[^/"]+\/)?[^@./"][^/":]*)[/"]/gm;

/**
 * Packages that stay imports of the built files: npm installs them beside ours, or the user has them. Everything else
 * that the sources import becomes part of `dist`.
 */
export function listOutside(): string[] {
  const { dependencies, peerDependencies } = readPackage();
  // The last colours a debug log where it happens to be there.
  return [...Object.keys(dependencies), ...Object.keys(peerDependencies), "supports-color"];
}

/** Names of the packages that the sources import and that become part of `dist`, sorted. */
export function listBundledNames(): string[] {
  const outside = new Set(listOutside());
  const found = new Set<string>();
  for (const path of readdirSync(join(PACKAGE_ROOT, "src"), { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".ts")) continue;
    for (const [, name = ""] of readFileSync(join(PACKAGE_ROOT, "src", path), "utf8").matchAll(IMPORT)) {
      if (!outside.has(name)) found.add(name);
    }
  }
  return [...found].sort();
}

/**
 * The files of `dist` that packages go into, each with the names of its packages: what the same imports of ours bring
 * along is together. A file comes before those that need it.
 */
export function planPackageFiles(): ReadonlyMap<string, readonly string[]> {
  const names = listBundledNames();
  const brought = names.flatMap((by) => listRuntimePackages([by]).map(({ id }) => [id.replace(/@[^@]*$/, ""), by]));
  const users = Map.groupBy(brought, ([name = ""]) => name);
  const groups = Map.groupBy(users.keys(), (name) => (users.get(name) ?? []).map(([, by]) => by).join(" "));
  const ordered = [...groups].sort(([a], [b]) => b.split(" ").length - a.split(" ").length);
  return new Map(
    ordered.map(([, held]) => [toFileName(held.find((name) => names.includes(name)) ?? held[0] ?? ""), held]),
  );
}

/** `@a/b` as the name of a file. */
export function toFileName(name: string): string {
  return `packages/${name.replace("@", "").replace("/", "-")}`;
}
