import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { McpDefinition } from "../../../src/apps/mcp/connect-mcp.ts";
import { prepareMcp } from "../../../src/apps/mcp/read-mcp-tools.ts";
import { openSourceAdmin } from "../../../src/service/added/open-source-admin.ts";
import { startTestService } from "../../../src/testing.ts";
import { waitForTool } from "../../service/added/wait-for-tool.ts";
import { startHttpMcpServer } from "../mcp/http-server.ts";
import { type ContractSubject, describeIntegrationContract } from "./describe-integration-contract.ts";
import { HTTP_FAULTS, meetsFaults } from "./http-faults.ts";

describeIntegrationContract("MCP server over HTTP", setUpHttp, { faults: HTTP_FAULTS });
describeIntegrationContract("MCP server that is started", setUpStdio, {
  faults: ["refuses the arguments", "does not know it", "breaks the connection", "never answers"],
});

async function setUpHttp(): Promise<ContractSubject> {
  const server = await startHttpMcpServer();
  const definition = { transport: "http", url: server.url, headers: ["Authorization"], isPrivate: true } as const;
  const settings = { Authorization: "Bearer token-of-the-contract" };
  const started = await startWith({ ...definition, trusted: true }, settings);
  return {
    ...started,
    read: { action: "look", args: {} },
    write: { action: "note", args: { text: "one" } },
    countEffects: async () => server.notes.length,
    badSettings: {},
    ...meetsFaults(server),
    async close() {
      await started.close();
      await server.close();
    },
  };
}

async function setUpStdio(): Promise<ContractSubject> {
  const folder = await mkdtemp(join(tmpdir(), "svc-contract-"));
  const script = fileURLToPath(new URL("../mcp/fixture-server.ts", import.meta.url));
  const definition = { transport: "stdio", command: process.execPath, args: [script, folder], env: ["TOKEN"] } as const;
  const started = await startWith({ ...definition, trusted: true }, { TOKEN: "token-of-the-contract" });
  return {
    ...started,
    read: { action: "look", args: {} },
    write: { action: "note", args: { text: "one" } },
    countEffects: async () => {
      const notes = await readFile(join(folder, "notes.txt"), "utf8").catch(() => "");
      return notes.split("\n").length - 1;
    },
    badSettings: {},
    meet: (fault) => writeFile(join(folder, "fault"), fault),
    recover: () => rm(join(folder, "fault"), { force: true }),
    async close() {
      await started.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

async function startWith(definition: McpDefinition, settings: Record<string, string>) {
  const service = await startTestService({ providerTimeoutMs: 6_000 });
  const admin = await openSourceAdmin({ dataDir: service.dataDir });
  const slug = "shelf";
  const place = { slug, name: undefined, definition };
  const { source } = await prepareMcp(place, settings, AbortSignal.timeout(30_000));
  await admin.add(source, { connection: { label: "Shelf", settings } });
  await admin.close();
  await waitForTool(service, "shelf_look");
  return { service, slug, close: () => service.close() };
}
