import { createService } from "../../src/service.ts";
import { generateTools } from "../../test/plugin/calls/catalog-service.ts";

/* A service whose apps have so many tools, 200 each: `node tool-server.ts DATA_DIR COUNT`. */

const [dataDir = "", count = ""] = process.argv.slice(2);
const PER_APP = 200;
const tools = generateTools(Number(count));
const integrations = Array.from({ length: Math.ceil(tools.length / PER_APP) }, (_, app) => ({
  slug: `app-${app}`,
  name: `App ${app}`,
  description: "An app of the bench.",
  category: "tests",
  scopes: [],
  actions: tools.slice(app * PER_APP, (app + 1) * PER_APP).map((tool, index) => ({
    id: `action_${app * PER_APP + index}`,
    title: `Action ${app * PER_APP + index}`,
    description: tool.description,
    level: tool.mode === "write" ? ("write" as const) : ("read" as const),
    requiresConfirmation: tool.mode === "write",
    idempotent: false,
    scopes: [],
    inputSchema: tool.inputSchema,
    run: async () => ({}),
  })),
  async checkSettings() {},
}));
const service = await createService({ dataDir, port: 0, integrations });
console.log(`Listening on ${service.url}`);
process.once("SIGTERM", () => void service.close().then(() => process.exit()));
