import { startTestService } from "../../../src/testing.ts";
import { createLab } from "../lab-integration.ts";

/** Serves the folder given first, with notes to the webhook given second, until it is killed; one JSON line when ready. */
const [dataDir = "", webhook = "", secret = ""] = process.argv.slice(2);
const { url, apiKey, service } = await startTestService({
  dataDir,
  integrations: [createLab().integration],
  approvals: "owner",
  heartbeatMs: 50,
  notify: [{ to: webhook, secret }],
});
if ((await service.connections.list()).length === 0) {
  await service.connections.add({ integration: "lab", label: "Lab", settings: {} });
}
console.log(JSON.stringify({ url, apiKey }));
