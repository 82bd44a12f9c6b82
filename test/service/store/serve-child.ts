import { startTestService } from "../../../src/testing.ts";
import { createLab } from "../lab-integration.ts";

/** Serves the folder, and database, given as arguments until it is killed; prints one JSON line when it is ready. */
const [dataDir = "", database] = process.argv.slice(2);
const place = { dataDir, ...(database !== undefined && { database }) };
const { url, apiKey, service } = await startTestService({ ...place, integrations: [createLab().integration] });
if ((await service.connections.list()).length === 0) {
  await service.connections.add({ integration: "lab", label: "Lab", settings: {} });
}
console.log(JSON.stringify({ url, apiKey, signInUrl: await service.signInUrl() }));
