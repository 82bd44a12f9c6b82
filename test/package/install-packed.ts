import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type PackedPackage, packCheckout } from "./pack-checkout.ts";
import { readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

/** An installed tarball and the project it is installed in. */
export interface InstalledPackage {
  readonly packed: PackedPackage;
  /** Folder of the project. */
  readonly consumer: string;
  /** Folder of the package in the project's `node_modules`. */
  readonly installed: string;
}

/** Builds and packs a copy of the sources, then installs the tarball, without any peer, in a project below `folder`. */
export async function installPacked(folder: string): Promise<InstalledPackage> {
  const packed = await packCheckout(folder);
  const consumer = join(folder, "consumer");
  await mkdir(consumer);
  await writeFile(join(consumer, "package.json"), '{ "private": true, "type": "module" }\n');
  const quiet = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  const install = await runCommand("npm", ["install", ...quiet, join(folder, packed.filename)], consumer);
  if (install.code !== 0) throw new Error(`npm install failed:\n${install.stderr}`);
  return { packed, consumer, installed: join(consumer, "node_modules", readPackage().name) };
}
