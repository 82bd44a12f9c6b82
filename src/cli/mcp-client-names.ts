/** Names of the clients that `svc install` knows. */
export const MCP_CLIENT_NAMES = [
  "claude-code",
  "claude-desktop",
  "codex",
  "cursor",
  "gemini-cli",
  "vscode",
  "windsurf",
  "zed",
] as const;
export type McpClientName = (typeof MCP_CLIENT_NAMES)[number];
