import { homedir } from "node:os";
import { join } from "node:path";
import type { InstallConfig } from "../../pairing/bootstrap.ts";

/** Names of the clients that `svc install` knows. */
export const MCP_CLIENT_NAMES = ["claude-code", "claude-desktop", "cursor", "vscode"] as const;
export type McpClientName = (typeof MCP_CLIENT_NAMES)[number];

/** How one agent client is told about an MCP server. */
export interface McpClient {
  readonly name: McpClientName;
  /** What people call it. */
  readonly title: string;
  /** Its configuration file for this user. */
  readonly file: string;
  /** Exists when the client is on this machine. */
  readonly trace: string;
  /** Member of the file that holds the servers by name. */
  readonly serversKey: "mcpServers" | "servers";
  /** The entry of one server. */
  describe(config: InstallConfig): Record<string, unknown>;
}

/** What the files of a user depend on. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

/** The clients with their files on this machine. */
export function listMcpClients({ platform, env }: Machine): readonly McpClient[] {
  const home = homedir();
  const appFolder = (name: string) => join(findAppData(platform, env, home), name);
  const claudeCode = join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
  return [
    {
      name: "claude-code",
      title: "Claude Code",
      file: claudeCode,
      trace: claudeCode,
      serversKey: "mcpServers",
      describe: ({ url, headers }) => ({ type: "http", url, headers }),
    },
    {
      name: "claude-desktop",
      title: "Claude Desktop",
      file: join(appFolder("Claude"), "claude_desktop_config.json"),
      trace: appFolder("Claude"),
      serversKey: "mcpServers",
      describe: describeBridge,
    },
    {
      name: "cursor",
      title: "Cursor",
      file: join(home, ".cursor", "mcp.json"),
      trace: join(home, ".cursor"),
      serversKey: "mcpServers",
      describe: ({ url, headers }) => ({ url, headers }),
    },
    {
      name: "vscode",
      title: "VS Code",
      file: join(appFolder("Code"), "User", "mcp.json"),
      trace: join(appFolder("Code"), "User"),
      serversKey: "servers",
      describe: ({ url, headers }) => ({ type: "http", url, headers }),
    },
  ];
}

/** Folder below which desktop programs keep their settings. */
function findAppData(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): string {
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}

/**
 * Claude Desktop's file takes only programs that it starts itself, so a bridge stands between. The headers go through
 * the environment: arguments of a running program can be read by everybody on the machine.
 */
function describeBridge({ url, headers }: InstallConfig): Record<string, unknown> {
  const entries = Object.entries(headers).map(([name, value], index) => ({
    name,
    value,
    variable: `SVC_HEADER_${index}`,
  }));
  return {
    command: "npx",
    args: [
      "-y",
      "mcp-remote",
      url,
      ...entries.flatMap(({ name, variable }) => ["--header", `${name}:\${${variable}}`]),
    ],
    env: Object.fromEntries(entries.map(({ variable, value }) => [variable, value])),
  };
}
