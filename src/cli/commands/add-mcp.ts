import { resolve } from "node:path";
import { McpConnectError, type McpDefinition } from "../../apps/mcp/connect-mcp.ts";
import { findSignInChallenge } from "../../apps/mcp/mcp-failure.ts";
import { prepareMcp } from "../../apps/mcp/read-mcp-tools.ts";
import { hideSecrets } from "../../apps/port/hide-secrets.ts";
import { isPublicHost } from "../../service/fetch/address-rules.ts";
import { toPlainText } from "../../shared/card/plain-text.ts";
import { SvcError } from "../../shared/errors.ts";
import type { CliContext } from "../context.ts";
import { endSentence } from "../terminal.ts";
import { type AddFlags, addSource, checkPlace } from "./add-source.ts";

interface McpFlags extends AddFlags {
  readonly url?: string;
  readonly header?: readonly string[];
  readonly env?: readonly string[];
  readonly cwd?: string;
  readonly trust?: true;
  readonly private?: true;
  readonly scope?: readonly string[];
  readonly signIn?: string;
}

const UNTRUSTED =
  "Every tool without a --level counts as a write and asks a human first; --trust believes what the server says of itself.";
const TRUSTED = "The server itself says which of its tools only read; those run without asking anybody.";

/** `svc add mcp`: lists an MCP server's tools, shows them, and adds them as actions. */
export async function addMcp(
  context: CliContext,
  slug: string,
  command: readonly string[],
  flags: McpFlags,
): Promise<number> {
  const { terminal, env, signal } = context;
  const definition = readDefinition(command, flags);
  const settings = readSecrets(definition, env);
  await checkPlace(context, slug, flags);
  terminal.progress("  asking the server what it offers …");
  const { source, notes, needsSignIn } = await prepareMcp({ slug, name: flags.name, definition }, settings, signal)
    .catch((error: unknown) => explain(error, settings, flags.header))
    .finally(() => terminal.endProgress());
  const trust = definition.trusted ? TRUSTED : UNTRUSTED;
  const connection = needsSignIn ? {} : { connection: { label: source.name, settings } };
  return addSource(context, { source, notes: [describePlace(definition), trust, ...notes], ...connection }, flags);
}

/** The program on the owner's machine, or the address, that the owner agrees to besides the actions. */
function describePlace(definition: McpDefinition): string {
  if (definition.transport === "http") {
    const plain = definition.url.startsWith("http:") ? " They are not encrypted." : "";
    return `Its calls go to ${definition.url}.${plain}`;
  }
  const { command, args, cwd, env } = definition;
  const line = [command, ...args]
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : JSON.stringify(word)))
    .join(" ");
  const sees = env.length === 0 ? "" : ` It sees ${env.join(", ")}.`;
  return `The service starts it, with its own rights, as: ${line} in ${cwd}.${sees}`;
}

function readDefinition(command: readonly string[], flags: McpFlags): McpDefinition {
  const [program, ...args] = command;
  const trusted = flags.trust === true;
  if ((program === undefined) === (flags.url === undefined)) {
    throw invalid("An MCP server is named by its command or by --url, by one of the two.", "--url");
  }
  if (program !== undefined) {
    if (flags.header !== undefined) throw invalid("A server that is started takes --env, not --header.", "--header");
    // The service may run in another folder: paths in the command are relative to this one.
    const cwd = resolve(flags.cwd ?? ".");
    return { transport: "stdio", command: program, args, env: [...(flags.env ?? [])], cwd, trusted };
  }
  if (flags.env !== undefined) throw invalid("A server at an address takes --header, not --env.", "--env");
  const url = readAddress(flags);
  const isPrivate = flags.private === true;
  const { header: headers = [], scope: scopes = [], signIn } = flags;
  const flow = signIn === "client" ? "client" : "code";
  const asked = signIn !== undefined || scopes.length > 0 ? { signIn: { flow, scopes } as const } : {};
  return { transport: "http", url: url.href, headers: [...headers], isPrivate, trusted, ...asked };
}

function readAddress(flags: McpFlags): URL {
  const url = URL.parse(flags.url ?? "");
  if (url?.protocol !== "https:" && url?.protocol !== "http:") {
    throw invalid(`"${flags.url}" is not an address.`, "--url");
  }
  if (url.username || url.password) throw invalid("An address must not hold a password.", "--url");
  if (flags.private === true) return url;
  const isPlain = url.protocol === "http:";
  if (!isPlain && isPublicHost(url.hostname)) return url;
  throw new SvcError(
    "invalid_config",
    isPlain ? `${url.origin} is not encrypted.` : `${url.hostname} is not a public host.`,
    {
      field: "--url",
      hint: "If you mean a server of your own network, add --private.",
    },
  );
}

/** Values come from the environment, so that no secret appears in a command line. */
function readSecrets(definition: McpDefinition, env: NodeJS.ProcessEnv): Record<string, string> {
  if (definition.transport === "stdio") {
    return Object.fromEntries(definition.env.map((name) => [name, requireVariable(name, env[name])]));
  }
  const variable = (header: string) => `SVC_HEADER_${header.toUpperCase().replaceAll("-", "_")}`;
  return Object.fromEntries(
    definition.headers.map((header) => [header, requireVariable(variable(header), env[variable(header)])]),
  );
}

function requireVariable(name: string, value: string | undefined): string {
  if (value !== undefined && value !== "") return value;
  throw new SvcError("invalid_config", `The environment variable ${name} is not set.`, {
    field: name,
    hint: "Its value is stored encrypted with the connection; set it in your shell for this one command.",
  });
}

function explain(error: unknown, settings: Readonly<Record<string, string>>, headers: readonly string[] = []): never {
  if (!(error instanceof McpConnectError)) throw error;
  if (headers.length > 0 && findSignInChallenge(error) !== undefined) {
    throw new SvcError("invalid_config", `The server refuses what it is sent as ${headers.join(", ")}.`, {
      field: "--header",
      hint: "Check the value. Without --header you can sign in, where the server offers that.",
      cause: error,
    });
  }
  const lines = error.complaint.trim().split("\n");
  const said = lines.find((line) => /\berror\b/i.test(line)) ?? lines.slice(-3).join(" ");
  const reason = toPlainText(hideSecrets(error.message, settings), { max: 300 });
  throw new SvcError("unreachable", `The server cannot be started or reached: ${endSentence(reason)}`, {
    hint: said === "" ? "Check its command or its address." : `It wrote: ${toPlainText(said, { max: 300 })}`,
    cause: error,
  });
}

function invalid(message: string, field: string): SvcError {
  const hint =
    "Examples: svc add mcp files -- npx -y some-server /srv/files · svc add mcp wiki --url https://wiki.example.org/mcp";
  return new SvcError("invalid_config", message, { field, hint });
}
