import { join } from "node:path";
import { type Server, startServer } from "./start-server.ts";

const OWN_TREE = join(import.meta.dirname, "../..");

/** The service in a process of its own, and a key for it. */
export interface ServiceProcess extends Server {
  readonly apiKey: string;
}

/** Makes a data folder with a key, and serves it as `svc serve` does; `tree` is the checkout to do so with. */
export async function startService(dataDir: string, tree = OWN_TREE): Promise<ServiceProcess> {
  const { startTestService } = (await import(join(tree, "src/testing.ts"))) as typeof import("../../src/testing.ts");
  const { apiKey, close } = await startTestService({ dataDir });
  await close();
  const server = await startServer([join(tree, "src/bin.ts"), "serve", "--port", "0", "--data", dataDir], "/health");
  return { ...server, apiKey };
}
