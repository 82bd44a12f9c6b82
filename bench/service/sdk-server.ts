import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { getRequestListener } from "@hono/node-server";
import { McpServer as McpServer1 } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { McpServer as McpServer2, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";
import { z } from "zod";
import { builtInIntegrations } from "../../src/apps/built-in.ts";
import { createCatalog } from "../../src/service/catalog/catalog.ts";
import { searchCatalog } from "../../src/service/catalog/describe-catalog.ts";
import { announceServer } from "../processes/announce-server.ts";

/*
 * The official MCP SDK as a server over HTTP, `1` or `2` for its major version: one session, JSON answers, and one tool
 * that does the service's own search over the same catalog and answers the same result. Nothing else: no key, no
 * store, no accounts that can change. Its catalog is built once.
 */

const catalog = createCatalog(builtInIntegrations);
/** As in a service that has just been started: one account of each app. */
const connections = catalog.integrations.map(({ slug }) => ({
  id: slug,
  integration: slug,
  label: slug,
  settings: {},
  scopes: [],
  state: "healthy" as const,
  isDefault: true,
}));
const config = {
  description: "Finds actions and apps by what should be done, best first.",
  inputSchema: z.object({
    query: z.string().max(500),
    connected_only: z.boolean().default(false),
    limit: z.int().min(1).max(100).default(10),
  }),
};

function search(args: z.infer<typeof config.inputSchema>) {
  const { query, connected_only: connectedOnly, limit } = args;
  const value = { items: searchCatalog(catalog, connections, { query, connectedOnly, limit }) };
  return {
    content: [{ type: "text" as const, text: JSON.stringify(value) }],
    structuredContent: value,
    isError: false,
  };
}

const identity = { name: "bench", version: "1.0.0" };
const options = { sessionIdGenerator: randomUUID, enableJsonResponse: true };

async function openFirst() {
  const mcp = new McpServer1(identity);
  mcp.registerTool("svc.search", { ...config, inputSchema: config.inputSchema.shape }, search);
  const transport = new StreamableHTTPServerTransport(options);
  await mcp.connect(transport);
  return transport.handleRequest.bind(transport);
}

async function openSecond() {
  const mcp = new McpServer2(identity);
  mcp.registerTool("svc.search", config, search);
  const transport = new WebStandardStreamableHTTPServerTransport(options);
  await mcp.connect(transport);
  return getRequestListener((request) => transport.handleRequest(request));
}

const handle = process.argv[2] === "2" ? await openSecond() : await openFirst();
const server = createServer((request, response) => {
  if (request.method === "POST") void handle(request, response);
  else response.writeHead(200).end();
});
announceServer(server);
