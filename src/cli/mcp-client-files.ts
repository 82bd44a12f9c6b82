import { existsSync } from "node:fs";
import { access, chmod, constants, copyFile, mkdir, readFile, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { errorCode, hasCode, replaceFile } from "../base/disk.ts";
import { isRecord, parseJson } from "../base/json.ts";
import { SvcError } from "../errors.ts";
import type { InstallConfig } from "../pairing/bootstrap.ts";
import type { McpClientName } from "./mcp-client-names.ts";

/** The configuration of one agent client for MCP servers. */
export interface McpClient {
  readonly name: McpClientName;
  readonly title: string;
  readonly file: string;
  /** A path that exists if the client is installed. */
  readonly trace: string;
  /** Member of the file that holds the servers by name. */
  readonly serversKey: "mcpServers" | "servers";
  /** The entry for the service's own endpoint. */
  describe(config: InstallConfig): Record<string, unknown>;
}

/** The facts that determine a user's file paths. */
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

/** The entry that has the client start a program. Claude Desktop knows no other kind, so it names none. */
export function describeProgram({ name }: Pick<McpClient, "name">, program: Program): Record<string, unknown> {
  return name === "claude-desktop" ? { ...program } : { type: "stdio", ...program };
}

const programSchema = z.looseObject({
  command: z.string(),
  args: z.array(z.string()),
  env: z.record(z.string(), z.string()).optional(),
});

/** A program for a client to start, with absolute paths: clients start it in any folder, with few variables. */
export type Program = z.infer<typeof programSchema>;

/** The program that a client's file has under `name`; undefined when there is none, or something else. */
export async function findProgram({ file, serversKey }: McpClient, name: string): Promise<Program | undefined> {
  const config = parseJson(await readFile(file, "utf8").catch(() => ""));
  const servers = isRecord(config) ? config[serversKey] : undefined;
  return programSchema.safeParse(isRecord(servers) ? servers[name] : undefined).data;
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

/**
 * Puts a server into the text of a configuration file; an empty text is an empty configuration. Everything else is kept,
 * indentation and numbers of any size too. `replaced`: a server of this name was there.
 *
 * @throws SvcError `invalid_config` naming the file when it is not plain JSON (comments cannot be kept, so a file that
 *   has some is left alone) or the servers are not an object.
 */
export function mergeConfig(
  file: string,
  text: string,
  { serversKey, serverName, entry }: { serversKey: string; serverName: string; entry: Record<string, unknown> },
): { text: string; replaced: boolean } {
  const config = readObject(file, text.trim() === "" ? {} : parse(file, text), "The file");
  const servers = readObject(file, config[serversKey] ?? {}, `"${serversKey}"`);
  const merged = { ...config, [serversKey]: { ...servers, [serverName]: entry } };
  const indent = /^\s*\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
  return { text: `${JSON.stringify(merged, null, indent)}\n`, replaced: Object.hasOwn(servers, serverName) };
}

/** Of every Node that this package runs on; its types do not have it yet. */
const { rawJSON } = JSON as unknown as { rawJSON(source: string): unknown };

/** Keeps numbers that a double cannot hold exactly as written. */
const keepNumbers = (_key: string, value: unknown, context?: { source?: string }): unknown => {
  const source = context?.source;
  return typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value;
};

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""), keepNumbers);
  } catch {
    throw refuse(file, "is not plain JSON: it may hold comments or be damaged");
  }
}

function readObject(file: string, value: unknown, what: string): Record<string, unknown> {
  if (isRecord(value)) return value;
  throw refuse(file, `cannot take a server: ${what} is not an object`);
}

function refuse(file: string, reason: string): SvcError {
  return new SvcError("invalid_config", `${file} ${reason}. Nothing was changed.`, {
    field: "file",
    hint: "Correct the file, or add the server by hand: the same command with --print shows it.",
  });
}
