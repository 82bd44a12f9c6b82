import { existsSync } from "node:fs";
import { hostname } from "node:os";
import { resolve } from "node:path";
import { bootstrapInstaller, type InstallConfig } from "../../plugin/pairing/bootstrap.ts";
import { SvcError } from "../../shared/errors.ts";
import { type CliContext, sayReaders } from "../context.ts";
import { EXIT } from "../exit-codes.ts";
import { mergeConfig, type ServerEntry, showServer } from "../mcp-client-config.ts";
import {
  describeProgram,
  listFiles,
  listMcpClients,
  type McpClient,
  readConfigFile,
  replaceConfigFile,
} from "../mcp-client-files.ts";
import { MCP_CLIENT_NAMES, type McpClientName } from "../mcp-client-names.ts";
import { chooseBaseUrl, createClient, findKeyFolder } from "../open-session.ts";
import { describeOwnProgram } from "../own-program.ts";
import { readSettings, type Settings } from "../settings.ts";
import type { Terminal } from "../terminal.ts";
import { ensurePaired, showApprovalWait } from "./access.ts";

interface InstallFlags {
  readonly client?: McpClientName;
  readonly baseUrl?: string;
  readonly file?: string;
  readonly print?: boolean;
  readonly remote?: boolean;
}

/** Name of the server in a client's file. */
export const SERVER_NAME = "svc";
const MASKED_KEY = "svc_live_••••••••";

/** `svc install`: has an agent client start `svc mcp`, or with `--remote` use the endpoint of the service. */
export async function install(context: CliContext, flags: InstallFlags): Promise<number> {
  const { terminal } = context;
  const client = chooseClient(context, flags);
  const settings = await readSettings(context.places, context.env, flags);
  if (flags.remote) await installRemote(context, client, { settings, flags });
  else await installProgram(context, client, { settings, flags });
  if (!flags.print) terminal.say(`Next: restart ${client.title}, then ask it what is in your mailbox.`);
  return EXIT.ok;
}

interface Terms {
  readonly settings: Settings;
  readonly flags: InstallFlags;
}

/** The key stays in the credential store: the client's file names only the program that reads it. */
async function installProgram(context: CliContext, client: McpClient, { settings, flags }: Terms): Promise<void> {
  const { terminal, env } = context;
  const own = describeOwnProgram({ node: process.execPath, script: process.argv[1] ?? "", env });
  const program = { ...own, args: [...own.args, "--client", client.name] };
  const entry = { serverName: SERVER_NAME, entry: describeProgram(client, program) };
  if (flags.print) return printConfig(terminal, client, { ...entry, isSecret: false });
  for (const one of listFiles(client)) mergeConfig(one, await readConfigFile(one.file), entry);
  // Each has a key of its own: its name, limits and approvals are not those of the machine or of another client. Not every
  // client can ask a human itself; the owner may choose otherwise on the page.
  const { isNew, baseUrl, path } = await ensurePaired(
    context,
    settings,
    { approvals: "owner", label: `${client.title} on ${hostname()}` },
    findKeyFolder(context.places, client.name),
  );
  if (!isNew)
    terminal.say(`${client.title} has a key of ${baseUrl} already. Its devices page says who approves writes.`);
  for (const one of listFiles(client)) await writeEntry(terminal, one, entry);
  terminal.say(`  It starts svc, which reads the key in ${path}. The file holds none.`);
  terminal.say(`  Local files are sent from here only: ${settings.mediaRoots.join(", ")}`);
}

/** Gives the client a key of its own, in its file. */
async function installRemote(context: CliContext, client: McpClient, { settings, flags }: Terms): Promise<void> {
  const { terminal } = context;
  const api = createClient(context, await chooseBaseUrl(context, settings));
  try {
    const example = toEntry(client, exampleConfig(api.baseUrl));
    if (flags.print) return printConfig(terminal, client, { ...example, isSecret: true });
    // Checked before the human is asked: the key is handed out once, and an unusable file would lose it.
    for (const one of listFiles(client)) mergeConfig(one, await readConfigFile(one.file), example);
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
}

function chooseClient({ env }: CliContext, { client, file }: InstallFlags): McpClient {
  const known = listMcpClients({ platform: process.platform, env });
  const found = known.filter(({ name, trace }) => (client === undefined ? existsSync(trace) : name === client));
  const [chosen] = found;
  if (chosen !== undefined && found.length === 1)
    return file === undefined ? chosen : { ...chosen, file: resolve(file), otherFiles: [] };
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
    for (const one of listFiles(client)) {
      await writeEntry(terminal, one, toEntry(one, config));
      terminal.say(`  The file holds a key now, ${sayReaders(one.file)}.`);
    }
  } catch (cause) {
    throw new SvcError("invalid_config", `${client.file} could not be written, so the new key is lost.`, {
      field: "file",
      hint: `Revoke "${client.title}" on the devices page of the service, then run this again with another --file.`,
      cause,
    });
  }
}

async function writeEntry(terminal: Terminal, client: McpClient, server: ServerEntry): Promise<void> {
  // Read again: the client may have changed it in the meantime.
  const merged = mergeConfig(client, await readConfigFile(client.file), server);
  const backup = await replaceConfigFile(client.file, merged.text, new Date());
  terminal.say(`${merged.replaced ? "Replaced" : "Added"} "${server.serverName}" in ${client.file}`);
  if (backup !== undefined) terminal.say(`  What was there before is in ${backup}`);
}

/** Refuses an address over which the key would cross a network unencrypted. */
function checkAddress(url: string): void {
  const { protocol, hostname } = new URL(url);
  const isLoopback = hostname === "localhost" || hostname === "[::1]" || hostname.startsWith("127.");
  if (protocol !== "https:" && !(protocol === "http:" && isLoopback)) {
    throw new SvcError("invalid_config", "The service named an address without encryption.");
  }
}

function toEntry(client: McpClient, config: InstallConfig): ServerEntry {
  return { serverName: config.server_name, entry: client.describe(config) };
}

function exampleConfig(baseUrl: string): InstallConfig {
  return { server_name: SERVER_NAME, url: `${baseUrl}/api/mcp`, headers: { "x-svc-api-key": MASKED_KEY } };
}

function printConfig(
  terminal: Terminal,
  client: McpClient,
  { isSecret, ...server }: ServerEntry & { readonly isSecret: boolean },
): void {
  const config = { [client.serversKey]: { [server.serverName]: server.entry } };
  terminal.answer({ client: client.name, file: client.file, config }, () =>
    [
      `${client.title} reads ${client.file}. Without --print this is added to it${isSecret ? ", with a real key" : ""}:`,
      showServer(client, server),
      "Nothing was written, and no key was made.",
    ].join("\n"),
  );
}
