import type { McpTool } from "../mcp-features.ts";

/** Lets a tool also answer to its name with underscores: many model hosts refuse dots in tool names. */
export function withAliases(tool: McpTool): McpTool {
  return { ...tool, aliases: [tool.name.replaceAll(".", "_")] };
}
