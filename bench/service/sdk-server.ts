import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { z } from "zod";
import { announceServer } from "../processes/announce-server.ts";

/*
 * The official MCP SDK as a server over HTTP: one session, JSON answers, and one tool that answers at once with as many
 * characters as it is asked for.
 */

const mcp = new McpServer({ name: "bench", version: "1.0.0" });
mcp.registerTool("fill", { description: "Answers at once.", inputSchema: { size: z.number() } }, async ({ size }) => ({
  content: [{ type: "text", text: "x".repeat(size) }],
}));
const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: randomUUID, enableJsonResponse: true });
await mcp.connect(transport);

const server = createServer((request, response) => {
  if (request.method === "POST") void transport.handleRequest(request, response);
  else response.writeHead(200).end();
});
announceServer(server);
