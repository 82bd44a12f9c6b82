import { appendFileSync } from "node:fs";
import type { Action, Integration } from "../../../src/apps/port/integration.ts";
import { startTestService } from "../../../src/testing.ts";

/**
 * Serves a data folder on a port until it is killed. Its one app adds a line to a file for each effect; with `holds` as
 * last argument it stops for ever before or after it acted, where the text of the call says so.
 */
const [dataDir = "", port = "0", ledger = "", holds] = process.argv.slice(2);

async function stopAt(place: string, text: unknown): Promise<void> {
  if (holds !== "holds" || !String(text).includes(place)) return;
  console.log(`holding ${text}`);
  await new Promise(() => {});
}

const write: Action = {
  id: "write",
  title: "Write",
  description: "Adds a line to the ledger.",
  level: "write",
  requiresConfirmation: true,
  idempotent: false,
  scopes: [],
  inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  async run({ text }) {
    await stopAt("before acting", text);
    appendFileSync(ledger, `${text}\n`);
    await stopAt("after acting", text);
    return { written: text };
  },
};
const integration: Integration = {
  slug: "ledger",
  name: "Ledger",
  description: "Lines in a file.",
  category: "tests",
  scopes: [],
  actions: [write],
  async checkSettings() {},
};

const { url, apiKey, service } = await startTestService({ dataDir, port: Number(port), integrations: [integration] });
if ((await service.connections.list()).length === 0) {
  await service.connections.add({ integration: "ledger", label: "Ledger", settings: {} });
}
console.log(`serving ${JSON.stringify({ url, apiKey })}`);
