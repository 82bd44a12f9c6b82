import { existsSync, readdirSync } from "node:fs";
import { access, chmod, constants, copyFile, mkdir, readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import type { InstallConfig } from "../plugin/pairing/bootstrap.ts";
import { replaceFile } from "../shared/base/disk.ts";
import { errorCode, hasCode } from "../shared/base/error-code.ts";
import { SvcError } from "../shared/errors.ts";
import { findServer, type ServersPlace } from "./mcp-client-config.ts";
import type { McpClientName } from "./mcp-client-names.ts";

/** The configuration of one agent client for MCP servers. */
export interface McpClient extends ServersPlace {
  readonly name: McpClientName;
  readonly title: string;
  /** A path that exists if the client is installed. */
  readonly trace: string;
  /** The same file of further installations. */
  readonly otherFiles?: readonly string[];
  /** The entry for the service's own endpoint. */
  describe(config: InstallConfig): Record<string, unknown>;
}

/** The facts that determine a user's file paths. */
export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly env: NodeJS.ProcessEnv;
}

/** What most clients have in common. */
const JSON_FILE = {
  format: "json",
  serversKey: "mcpServers",
  describe: ({ url, headers }: InstallConfig): Record<string, unknown> => ({ url, headers }),
} as const;

/** The clients with their files on this machine. */
export function listMcpClients({ platform, env }: Machine): readonly McpClient[] {
  const home = homeOf({ platform, env });
  const appFolder = (name: string) => join(findAppData(platform, env, home), name);
  const claudeCode = join(env.CLAUDE_CONFIG_DIR || home, ".claude.json");
  const codex = env.CODEX_HOME || join(home, ".codex");
  const zed = platform === "win32" ? appFolder("Zed") : join(env.XDG_CONFIG_HOME || join(home, ".config"), "zed");
  return [
    {
      ...JSON_FILE,
      name: "claude-code",
      title: "Claude Code",
      trace: claudeCode,
      file: claudeCode,
      describe: ({ url, headers }) => ({ type: "http", url, headers }),
    },
    {
      ...JSON_FILE,
      name: "claude-desktop",
      title: "Claude Desktop",
      ...findClaudeDesktop(appFolder("Claude"), { platform, env }),
      describe: describeBridge,
    },
    {
      name: "codex",
      title: "Codex",
      trace: codex,
      file: join(codex, "config.toml"),
      format: "toml",
      serversKey: "mcp_servers",
      describe: ({ url, headers }) => ({ url, http_headers: headers }),
    },
    {
      ...JSON_FILE,
      name: "cursor",
      title: "Cursor",
      trace: join(home, ".cursor"),
      file: join(home, ".cursor", "mcp.json"),
    },
    {
      ...JSON_FILE,
      name: "gemini-cli",
      title: "Gemini CLI",
      trace: join(home, ".gemini"),
      file: join(home, ".gemini", "settings.json"),
      describe: ({ url, headers }) => ({ httpUrl: url, headers }),
    },
    {
      ...JSON_FILE,
      name: "vscode",
      title: "VS Code",
      trace: join(appFolder("Code"), "User"),
      file: join(appFolder("Code"), "User", "mcp.json"),
      serversKey: "servers",
      describe: ({ url, headers }) => ({ type: "http", url, headers }),
    },
    {
      ...JSON_FILE,
      name: "windsurf",
      title: "Windsurf",
      trace: join(home, ".codeium", "windsurf"),
      file: join(home, ".codeium", "windsurf", "mcp_config.json"),
      describe: ({ url, headers }) => ({ serverUrl: url, headers }),
    },
    {
      ...JSON_FILE,
      name: "zed",
      title: "Zed",
      trace: zed,
      file: join(zed, "settings.json"),
      serversKey: "context_servers",
    },
  ];
}

function homeOf({ platform, env }: Machine): string {
  return (platform === "win32" ? env.USERPROFILE : undefined) || homedir();
}

/** Installed from a package of Windows, Claude Desktop has a copy of its folder there, and reads that one alone. */
function findClaudeDesktop(usual: string, { platform, env }: Machine) {
  const packages = join(env.LOCALAPPDATA || join(homeOf({ platform, env }), "AppData", "Local"), "Packages");
  const names = platform === "win32" && existsSync(packages) ? readdirSync(packages).sort() : [];
  const packaged = names
    .filter((name) => name.startsWith("Claude_"))
    .map((name) => join(packages, name, "LocalCache", "Roaming", "Claude"))
    .filter((folder) => existsSync(folder));
  const [trace = usual, ...others] = existsSync(usual) ? [usual, ...packaged] : packaged;
  const fileIn = (folder: string) => join(folder, "claude_desktop_config.json");
  return { trace, file: fileIn(trace), otherFiles: others.map(fileIn) };
}

/** The client once for each of its files. */
export function listFiles(client: McpClient): readonly McpClient[] {
  return [client.file, ...(client.otherFiles ?? [])].map((file) => ({ ...client, file }));
}

/** Clients whose entries say of what kind they are; the others would warn of it. */
const SAYS_KIND: ReadonlySet<McpClientName> = new Set(["claude-code", "cursor", "vscode"]);

/** The entry that has the client start a program. */
export function describeProgram({ name }: Pick<McpClient, "name">, program: Program): Record<string, unknown> {
  return SAYS_KIND.has(name) ? { type: "stdio", ...program } : { ...program };
}

const programSchema = z.looseObject({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
});

/** A program for a client to start, with absolute paths: clients start it in any folder, with few variables. */
export type Program = z.infer<typeof programSchema>;

/** The program that a client's file has under `name`; undefined when there is none, or something else. */
export async function findProgram(client: McpClient, name: string): Promise<Program | undefined> {
  const text = await readFile(client.file, "utf8").catch(() => "");
  return programSchema.safeParse(findServer(client, text, name)).data;
}

/** Folder below which desktop programs keep their settings. */
function findAppData(platform: NodeJS.Platform, env: NodeJS.ProcessEnv, home: string): string {
  if (platform === "win32") return env.APPDATA || join(home, "AppData", "Roaming");
  if (platform === "darwin") return join(home, "Library", "Application Support");
  return env.XDG_CONFIG_HOME || join(home, ".config");
}

/**
 * Claude Desktop's file accepts only programs that it starts itself, so a bridge is needed. The headers are passed in
 * the environment, because everybody on the machine can read the arguments of a running program.
 */
function describeBridge({ url, headers }: InstallConfig): Record<string, unknown> {
  const names = Object.keys(headers).flatMap((name, index) => ["--header", `${name}:\${SVC_HEADER_${index}}`]);
  const env = Object.fromEntries(Object.values(headers).map((value, index) => [`SVC_HEADER_${index}`, value]));
  return { command: "npx", args: ["-y", "mcp-remote", url, ...names], env };
}

/** The text of a configuration file; empty when there is none. Throws SvcError `invalid_config` when it cannot be used. */
export async function readConfigFile(file: string): Promise<string> {
  try {
    const text = await readFile(file, "utf8");
    await access(dirname(await realpath(file)), constants.W_OK);
    return text;
  } catch (error) {
    if (hasCode(error, "ENOENT")) return "";
    throw new SvcError("invalid_config", `${file} cannot be read and replaced (${errorCode(error) ?? "unknown"}).`, {
      field: "file",
      hint: "Check its permissions, or choose another file with --file.",
      cause: error,
    });
  }
}

/**
 * Replaces a configuration file whole, readable by its owner alone, because such files hold keys. The old content is
 * kept beside it. A link stays a link: the file it leads to is replaced.
 *
 * @returns path of the copy of the old content; undefined when there was none.
 */
export async function replaceConfigFile(file: string, text: string, now: Date): Promise<string | undefined> {
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  const target = await realpath(file).catch(() => file);
  const backup = `${target}.backup-${now.toISOString().replaceAll(/[-:]|\.\d+/g, "")}`;
  const hadContent = existsSync(target);
  if (hadContent) await copyFile(target, backup);
  if (hadContent) await chmod(backup, 0o600);
  await replaceFile(target, text);
  return hadContent ? backup : undefined;
}
