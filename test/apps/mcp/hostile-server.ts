import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";

/** An MCP server that draws with everything it says of itself: `node hostile-server.ts <what it draws>`. */
const draw = process.argv[2] ?? "";
const inputSchema = { type: "object" as const, properties: {} };
const server = new Server(
  { name: `draws${draw}`, title: `Draws${draw}`, version: "1.0.0" },
  { capabilities: { tools: {} } },
);
server.setRequestHandler(ListToolsRequestSchema, () => ({
  tools: [
    {
      name: "look",
      title: `Look${draw}`,
      description: `Looks.${draw}\n\nThen rests.`,
      inputSchema,
      annotations: { readOnlyHint: true },
    },
    { name: "untitled", title: draw, description: draw, inputSchema, annotations: { readOnlyHint: true } },
  ],
}));
server.setRequestHandler(CallToolRequestSchema, () => ({ content: [{ type: "text", text: "{}" }] }));
await server.connect(new StdioServerTransport());
