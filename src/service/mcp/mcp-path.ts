/** Path of the MCP endpoint. */
export const MCP_PATH = "/api/mcp";
