import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** Root folder of the package. */
export const PACKAGE_ROOT = fileURLToPath(new URL("../..", import.meta.url));

const packageSchema = z.looseObject({
  name: z.string(),
  version: z.string(),
  bin: z.record(z.string(), z.string()),
  engines: z.object({ node: z.string() }),
  exports: z.record(z.string(), z.union([z.string(), z.object({ types: z.string(), default: z.string() })])),
  files: z.array(z.string()),
  dependencies: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })),
});

/** The package.json of this package. */
export function readPackage(): z.infer<typeof packageSchema> {
  return packageSchema.parse(readJson("package.json"));
}

/** A JSON file below the root of the package. */
export function readJson(path: string): unknown {
  return JSON.parse(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"));
}
