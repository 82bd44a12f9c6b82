import { cp, symlink } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { build } from "./build.ts";
import type { BundledPackage } from "./bundle.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

const packedSchema = z.tuple([
  z.looseObject({
    filename: z.string(),
    size: z.number(),
    unpackedSize: z.number(),
    files: z.array(z.object({ path: z.string(), size: z.number(), mode: z.number() })),
  }),
]);

/** What `npm pack` says of a tarball. */
export type PackedPackage = z.infer<typeof packedSchema>[0] & {
  /** What the files hold of other packages. */
  readonly bundled: readonly BundledPackage[];
};

/**
 * Builds a copy of the sources, so that the project's `dist/` is left alone. Returns the copy's path.
 * @public - a benchmark loads it from the tree that it measures
 */
export async function buildCheckout(folder: string): Promise<string> {
  return (await buildCopy(folder)).copy;
}

async function buildCopy(folder: string): Promise<{ copy: string; bundled: BundledPackage[] }> {
  const copy = join(folder, "copy");
  for (const part of ["package.json", "tsconfig.json", "LICENSE", "README.md", "src", ...readPackage().files]) {
    if (part !== "dist") await cp(join(PACKAGE_ROOT, part), join(copy, part), { recursive: true });
  }
  await symlink(join(PACKAGE_ROOT, "node_modules"), join(copy, "node_modules"));
  return { copy, bundled: await build(copy) };
}

/** Builds and packs a copy of the sources. The tarball is `folder/filename`. */
export async function packCheckout(folder: string): Promise<PackedPackage> {
  const { copy, bundled } = await buildCopy(folder);
  const pack = await runCommand("npm", ["pack", "--ignore-scripts", "--json", "--pack-destination", folder], copy);
  if (pack.code !== 0) throw new Error(`npm pack failed:\n${pack.stderr}`);
  return { ...packedSchema.parse(JSON.parse(pack.stdout))[0], bundled };
}
