import { startTestService } from "../../../src/testing.ts";
import { createLab } from "../lab-integration.ts";

/** Serves the folder given as argument until it is killed; prints one JSON line when it is ready. */
const [dataDir = ""] = process.argv.slice(2);
const { url, apiKey, service } = await startTestService({ dataDir, integrations: [createLab().integration] });
if ((await service.connections.list()).length === 0) {
  await service.connections.add({ integration: "lab", label: "Lab", settings: {} });
}
console.log(JSON.stringify({ url, apiKey, signInUrl: await service.signInUrl(), pid: process.pid }));
