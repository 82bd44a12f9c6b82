import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { BundledPackage } from "./bundle.ts";
import { PACKAGE_ROOT } from "./read-package.ts";
import { readLock } from "./release/runtime-packages.ts";

/**
 * Our own licence, and below it that of every package whose code is in the same tarball.
 *
 * @throws Error for a package without a licence text that is not under MIT
 */
export async function createLicenceText(packages: readonly BundledPackage[]): Promise<string> {
  const own = (await readFile(join(PACKAGE_ROOT, "LICENSE"), "utf8")).trim();
  const parts = packages.map((one) => `## ${one.name} ${one.version}\n\n${one.licence ?? writeMit(one, own)}\n`);
  return [`${own}\n`, "# Packages that are part of these files\n", ...parts].join("\n");
}

/** Some packages only name their licence; ours has its words. */
function writeMit({ name, author }: BundledPackage, own: string): string {
  const { license } = readLock().packages[`node_modules/${name}`] ?? {};
  if (license !== "MIT" || author === undefined) throw new Error(`${name} is bundled and its licence text is missing.`);
  return own.replace(/^Copyright.*$/m, `Copyright (c) ${author}`);
}
