import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { SvcError } from "../../errors.ts";
import { bootstrapInstaller, type InstallConfig } from "../../pairing/bootstrap.ts";
import type { CliContext } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import {
  listMcpClients,
  MCP_CLIENT_NAMES,
  type McpClient,
  type McpClientName,
  mergeConfig,
  readConfigFile,
  replaceConfigFile,
} from "../mcp-client-files.ts";
import { chooseBaseUrl, createClient } from "../open-session.ts";
import { readSettings } from "../settings.ts";
import type { Terminal } from "../terminal.ts";
import { showApprovalWait } from "./access.ts";

interface InstallFlags {
  readonly client?: McpClientName;
  readonly baseUrl?: string;
  readonly file?: string;
  readonly print?: boolean;
}

const MASKED_KEY = "svc_live_••••••••";

/** `svc install`: writes the service, with a new key, into the configuration of an agent client. */
export async function install(context: CliContext, flags: InstallFlags): Promise<number> {
  const { terminal } = context;
  const client = chooseClient(context, flags);
  const settings = await readSettings(context.places, context.env, flags);
  const api = createClient(context, await chooseBaseUrl(context, settings));
  try {
    if (flags.print) return printConfig(terminal, client, api.baseUrl);
    // Checked before the human is asked: the key is handed out once, and an unusable file would lose it.
    mergeConfig(client.file, await readConfigFile(client.file), toEntry(client, exampleConfig(api.baseUrl)));
    await bootstrapInstaller({
      client: api,
      request: {
        client_label: client.title,
        hostname: hostname(),
        platform: process.platform,
        agent_family: client.name,
      },
      install: (config) => writeConfig(terminal, client, config),
      signal: context.signal,
      onProgress: (progress) => showApprovalWait(terminal, progress),
    });
  } finally {
    await api.close();
  }
  terminal.say(`Next: restart ${client.title}, then ask it what is in your mailbox.`);
  return EXIT.ok;
}

function chooseClient({ env }: CliContext, { client, file }: InstallFlags): McpClient {
  const known = listMcpClients({ platform: process.platform, env });
  const found = known.filter(({ name, trace }) => (client === undefined ? existsSync(trace) : name === client));
  const [chosen] = found;
  if (chosen !== undefined && found.length === 1)
    return file === undefined ? chosen : { ...chosen, file: resolve(file) };
  const what =
    found.length === 0
      ? "No agent client was found on this machine."
      : `Several agent clients are on this machine: ${found.map(({ title }) => title).join(", ")}.`;
  throw new SvcError("invalid_config", what, {
    field: "client",
    hint: `Say which one: --client ${MCP_CLIENT_NAMES.join(" | ")}.`,
  });
}

async function writeConfig(terminal: Terminal, client: McpClient, config: InstallConfig): Promise<void> {
  try {
    checkAddress(config.url);
    // Read again: the client may have changed it in the meantime.
    const merged = mergeConfig(client.file, await readConfigFile(client.file), toEntry(client, config));
    const backup = await replaceConfigFile(client.file, merged.text, new Date());
    terminal.say(`${merged.replaced ? "Replaced" : "Added"} "${config.server_name}" in ${client.file}`);
    if (backup !== undefined) terminal.say(`  What was there before is in ${backup}`);
    terminal.say("  The file holds a key now and is readable by you alone.");
  } catch (cause) {
    throw new SvcError("invalid_config", `${client.file} could not be written, so the new key is lost.`, {
      field: "file",
      hint: `Revoke "${client.title}" on the devices page of the service, then run this again with another --file.`,
      cause,
    });
  }
}

/** Refuses an address over which the key would cross a network unencrypted. */
function checkAddress(url: string): void {
  const { protocol, hostname } = new URL(url);
  const isLoopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback)) {
    throw new SvcError("invalid_config", "The service named an address without encryption.");
  }
}

function toEntry(client: McpClient, config: InstallConfig) {
  return { serversKey: client.serversKey, serverName: config.server_name, entry: client.describe(config) };
}

function exampleConfig(baseUrl: string): InstallConfig {
  return { server_name: "svc", url: `${baseUrl}/api/mcp`, headers: { "x-svc-api-key": MASKED_KEY } };
}

function printConfig(terminal: Terminal, client: McpClient, baseUrl: string): number {
  const { serversKey, serverName, entry } = toEntry(client, exampleConfig(baseUrl));
  const config = { [serversKey]: { [serverName]: entry } };
  terminal.answer({ client: client.name, file: client.file, config }, () =>
    [
      `${client.title} reads ${client.file}. Without --print this is added to it, with a real key:`,
      JSON.stringify(config, null, 2),
      "Nothing was written, and no key was made.",
    ].join("\n"),
  );
  return EXIT.ok;
}
