import { copyFile, mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { buildPrograms } from "../package/build.ts";
import { PACKAGE_ROOT } from "../package/read-package.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Path of the command line, built as the package has it: it starts in half the time that the sources take. */
    program: string;
  }
}

/** Builds the command line once for the files of a project that start it; with `SVC_TEST_PROGRAM=none` they fail. */
export default async function provideProgram(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (process.env.SVC_TEST_PROGRAM === "none") return undefined;
  const cache = join(PACKAGE_ROOT, "node_modules/.cache");
  await mkdir(cache, { recursive: true });
  // Beside the packages that it loads.
  const folder = await realpath(await mkdtemp(join(cache, "program-")));
  await copyFile(join(PACKAGE_ROOT, "package.json"), join(folder, "package.json"));
  await buildPrograms(PACKAGE_ROOT, join(folder, "dist"));
  project.provide("program", join(folder, "dist/bin.js"));
  return () => rm(folder, { recursive: true, force: true });
}
