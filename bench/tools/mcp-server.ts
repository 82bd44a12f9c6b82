import { createInterface } from "node:readline";
import { readCatalog } from "../../test/plugin/calls/catalog-service.ts";

/** A stdio MCP server that lists the catalogue in one page; only what mcp-adapters needs of the protocol. */

const { tools } = readCatalog(Number(process.argv[2]));
const listed = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) continue;
  const result = answer(method, params);
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...result })}\n`);
}

function answer(method: string, params: { protocolVersion?: string } = {}): Record<string, unknown> {
  switch (method) {
    case "initialize":
      return {
        result: {
          protocolVersion: params.protocolVersion,
          capabilities: { tools: {} },
          serverInfo: { name: "bench", version: "1" },
        },
      };
    case "tools/list":
      return { result: { tools: listed } };
    default:
      return { error: { code: -32601, message: "Method not found" } };
  }
}
