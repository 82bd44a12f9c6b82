import { writeFileSync } from "node:fs";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** An MCP server that can be brought into an endless loop: `node looping-server.ts <file for its process id>`. */
const inputSchema = { type: "object" as const, properties: {} };
const server = new Server({ name: "looping", version: "1.0.0" }, { capabilities: { tools: {} } });
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: ["loop", "surroundings"].map((name) => ({ name, inputSchema, annotations: { readOnlyHint: true } })),
}));
server.setRequestHandler(CallToolRequestSchema, ({ params: { name } }) => {
  if (name === "surroundings") return { content: [{ type: "text", text: JSON.stringify(process.env) }] };
  writeFileSync(process.argv[2] ?? "", String(process.pid));
  for (;;);
});
process.on("SIGTERM", () => {});
await server.connect(new StdioServerTransport());
