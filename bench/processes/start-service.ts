import { join } from "node:path";
import { findBuiltPackage, OWN_TREE } from "./built-package.ts";
import { type Server, startServer } from "./start-server.ts";

/** The service in a process of its own, and a key for it. */
export interface ServiceProcess extends Server {
  readonly apiKey: string;
}

/** Makes a data folder with a key, and serves it as `svc serve` of the built package does; `tree` is the checkout. */
export async function startService(dataDir: string, tree: string = OWN_TREE): Promise<ServiceProcess> {
  const bin = join(await findBuiltPackage(tree), "bin.js");
  const { startTestService } = (await import(join(tree, "src/testing.ts"))) as typeof import("../../src/testing.ts");
  const { apiKey, close } = await startTestService({ dataDir });
  await close();
  const server = await startServer([bin, "serve", "--port", "0", "--data", dataDir], "/health");
  return { ...server, apiKey };
}
