import { fileURLToPath } from "node:url";
import { startTestService } from "../../src/testing.ts";
import { type Server, startServer } from "./start-server.ts";

const BIN = fileURLToPath(new URL("../../src/bin.ts", import.meta.url));

/** The service in a process of its own, and a key for it. */
export interface ServiceProcess extends Server {
  readonly apiKey: string;
}

/** Makes a data folder with a key, and serves it as `svc serve` does. */
export async function startService(dataDir: string): Promise<ServiceProcess> {
  const { apiKey, close } = await startTestService({ dataDir });
  await close();
  const server = await startServer([BIN, "serve", "--port", "0", "--data", dataDir], "/health");
  return { ...server, apiKey };
}
