import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { followImports } from "./follow-imports.ts";
import { PACKAGE_ROOT, readPackage } from "./read-package.ts";
import { runCommand } from "./run-command.ts";

const DECLARATIONS = /\.d\.ts$/;

/** What is written in two runs: comments belong in the declarations, where editors look for them. */
const OUTPUTS = [["--emitDeclarationOnly"], ["--declaration", "false", "--removeComments", "--noCheck"]];

/**
 * Compiles the sources in `folder` into its `dist`, anew: declarations, and programs without comments. Leaves out the
 * declarations that no door leads to: only doors can be imported, so that nobody's compiler would ever read the others.
 */
export async function build(folder: string): Promise<void> {
  const dist = join(folder, "dist");
  await rm(dist, { recursive: true, force: true });
  const tsc = join(PACKAGE_ROOT, "node_modules/typescript/bin/tsc");
  for (const output of OUTPUTS) {
    const built = await runCommand(process.execPath, [tsc, "-p", "src/tsconfig.build.json", ...output], folder);
    if (built.code !== 0) throw new Error(`The build failed:\n${built.stdout}${built.stderr}`);
  }
  const reached = await findDeclarations(folder);
  for (const path of await readdir(dist, { recursive: true })) {
    const file = join(dist, path);
    if (DECLARATIONS.test(path) && !reached.has(file)) await rm(file);
  }
}

/** Absolute paths of the declarations that the doors of the package in `folder` lead to. */
export async function findDeclarations(folder: string): Promise<ReadonlySet<string>> {
  const doors = Object.values(readPackage().exports).flatMap((door) => (typeof door === "string" ? [] : [door.types]));
  const { files } = await followImports(
    doors.map((door) => resolve(folder, door)),
    (module) => module.replace(/\.[jt]s$/, ".d.ts"),
  );
  return files;
}
