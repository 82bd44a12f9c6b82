import { rmSync } from "node:fs";
import { mkdtemp, realpath } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reportProgress } from "../report/run-part.ts";

/** The checkout that the bench is in. */
export const OWN_TREE = join(import.meta.dirname, "../..");

/** Set by the program that runs several parts, so that they share one build. */
const SHARED = "SVC_BENCH_DIST";

const built = new Map<string, Promise<string>>();

/**
 * The `dist` of the package as its users run it, built from the sources as they are: once for a run of the bench, in a
 * folder that is removed when this process ends.
 *
 * @param tree another checkout, which is built by its own program
 */
export function findBuiltPackage(tree: string = OWN_TREE): Promise<string> {
  const shared = tree === OWN_TREE ? process.env[SHARED] : undefined;
  const dist = built.get(tree) ?? (shared === undefined ? buildOnce(tree) : Promise.resolve(shared));
  built.set(tree, dist);
  return dist;
}

/** Builds for every part that is started from now on. */
export async function shareBuiltPackage(): Promise<void> {
  process.env[SHARED] = await findBuiltPackage();
}

async function buildOnce(tree: string): Promise<string> {
  reportProgress("building");
  const program = join(tree, "test/package/pack-checkout.ts");
  const { buildCheckout } = (await import(program)) as typeof import("../../test/package/pack-checkout.ts");
  const folder = await realpath(await mkdtemp(join(tmpdir(), "svc-bench-built-")));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  return join(await buildCheckout(folder), "dist");
}
