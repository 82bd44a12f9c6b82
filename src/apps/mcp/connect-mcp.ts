import { setTimeout as delay } from "node:timers/promises";
import type { Client, jsonSchemaValidator, Transport } from "@modelcontextprotocol/client";
import { z } from "zod";
import { ServiceError } from "../../service/service-error.ts";
import { stopOnAbort } from "../../shared/base/concurrency.ts";
import { levelRulesSchema } from "../port/action-levels.ts";
import { hideSecrets } from "../port/hide-secrets.ts";
import type { SettingField } from "../port/integration.ts";
import { loadSdk } from "./mcp-sdk.ts";

/** A connection to an MCP server that has been opened. */
export interface McpSession {
  readonly client: Client;
  /** True when the server keeps a session for this client, which it may forget. */
  readonly hasSession: boolean;
  /** Last lines the server wrote for people, without secrets; empty for a remote server. */
  readComplaint(): string;
  close(): Promise<void>;
}

/** How long a server has to answer the first request. */
const CONNECT_MS = 30_000;
const END_MS = 1_000;
const COMPLAINT_CHARS = 2_000;

/** In place of the SDK's own, which makes code of the schemas of servers: results are read by a schema of ours. */
const CHECKS_NOTHING: jsonSchemaValidator = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
};

/**
 * Starts or reaches the server and agrees on a protocol version.
 *
 * A started server sees what `createChildEnvironment` lists and the variables of the definition.
 * Rejects with {@link McpConnectError}; a started process is ended again then.
 */
export async function connectMcp(
  definition: McpDefinition,
  settings: Readonly<Record<string, unknown>>,
  options: {
    signal?: AbortSignal;
    onClose?: () => void;
    onToolsChanged?: () => void;
    /** The settings with a token that lasts, for a server that signs in. Default: `settings`. */
    readLive?: () => Promise<Readonly<Record<string, unknown>>>;
  } = {},
): Promise<McpSession> {
  const { Client } = await loadSdk();
  let complaint = "";
  const client = new Client(
    { name: "svc", version: "1.0.0" },
    {
      capabilities: {},
      jsonSchemaValidator: CHECKS_NOTHING,
      // A started server is asked in the older way first: the newer way would start it twice.
      ...(definition.transport === "http" && { versionNegotiation: { mode: "auto" } }),
    },
  );
  const { readLive = async () => settings } = options;
  const { transport, endSession, release } = await createTransport(definition, { settings, readLive }, (text) => {
    complaint = (complaint + text).slice(-COMPLAINT_CHARS);
  });
  const readComplaint = () => hideSecrets(complaint, settings);
  const close = async () => {
    await endSession();
    await client.close().catch(() => {});
    await transport.close().catch(() => {});
    await release();
  };
  client.onclose = () => options.onClose?.();
  client.setNotificationHandler("notifications/tools/list_changed", () => options.onToolsChanged?.());
  try {
    const { signal } = options;
    const connecting = client.connect(transport, { timeout: CONNECT_MS, ...(signal && { signal }) });
    // Asking for the protocol version does not listen to it.
    await (signal === undefined ? connecting : stopOnAbort(connecting, signal));
  } catch (error) {
    await close();
    throw new McpConnectError(readComplaint(), error);
  }
  return { client, hasSession: transport.sessionId !== undefined, readComplaint, close };
}

/** The server could not be started or reached. */
export class McpConnectError extends Error {
  override readonly name = "McpConnectError";
  /** Last lines of the server's messages for people. */
  readonly complaint: string;

  constructor(complaint: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : "The connection failed.", { cause });
    this.complaint = complaint;
  }
}

type Settings = Readonly<Record<string, unknown>>;

/** Name of the setting with the access token, which is never stored. */
export const ACCESS_TOKEN = "accessToken";

function toHeaders(names: readonly string[], settings: Settings): Record<string, string> {
  const token = settings[ACCESS_TOKEN];
  return { ...pickSecrets(names, settings), ...(typeof token === "string" && { authorization: `Bearer ${token}` }) };
}

interface OpenTransport {
  readonly transport: Transport;
  /** Tells a remote server that its session is over; waits for a moment only. Never rejects. */
  endSession(): Promise<void>;
  /** Frees resources that the transport does not manage. */
  release(): Promise<void>;
}

async function createTransport(
  definition: McpDefinition,
  { settings, readLive }: { settings: Settings; readLive: () => Promise<Settings> },
  onComplaint: (text: string) => void,
): Promise<OpenTransport> {
  if (definition.transport === "http") {
    const { StreamableHTTPClientTransport } = await loadSdk();
    const { createMcpFetch } = await import("./mcp-fetch.ts");
    const { failAtStreamEnd } = await import("./mcp-transport.ts");
    const { fetch, close } = createMcpFetch({
      ...definition,
      readHeaders: async () => toHeaders(definition.headers, await readLive()),
    });
    const transport = failAtStreamEnd(new StreamableHTTPClientTransport(new URL(definition.url), { fetch }));
    const endSession = async () => {
      await Promise.race([transport.terminateSession().catch(() => {}), delay(END_MS, undefined, { ref: false })]);
    };
    return { transport, endSession, release: close };
  }
  const { ChildTransport } = await import("./child-transport.ts");
  const { command, args, cwd } = definition;
  const env = createChildEnvironment(pickSecrets(definition.env, settings));
  const transport = new ChildTransport({ command, args, cwd, env, onComplaint });
  return { transport, endSession: async () => {}, release: async () => {} };
}

/** Who and where the program runs, its language, and how it reaches the internet. */
const INHERITED = [
  ...["PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "TZ", "TMPDIR"],
  ...["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy"],
  ...["NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE", "SSL_CERT_DIR"],
];
/** Without these few programs start on Windows. */
const ON_WINDOWS = [
  ...[
    "APPDATA",
    "LOCALAPPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
  ],
  ...["PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMW6432", "SYSTEMDRIVE", "SYSTEMROOT", "TEMP", "TMP", "USERNAME"],
  ...["USERPROFILE", "WINDIR"],
];

/**
 * The whole environment of a started server: a fixed short list of what this process has, and `given`. Nothing else, and so
 * no setting or secret of this service, reaches it.
 *
 * @param given variables that the owner named for this app
 */
export function createChildEnvironment(
  given: Readonly<Record<string, string>>,
  // biome-ignore lint/style/noProcessEnv: no setting is read here; a child inherits from this very process
  own: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const isWindows = platform === "win32";
  const names = new Set(isWindows ? [...INHERITED, ...ON_WINDOWS] : INHERITED);
  const inherited = Object.entries(own).flatMap(([name, value]) => {
    // Windows spells names as it likes.
    const isListed = names.has(isWindows ? name.toUpperCase() : name) || /^LC_[A-Z]+$/.test(name);
    // A value that begins so is a function of an old shell.
    return isListed && value !== undefined && !value.startsWith("()") ? [[name, value] as const] : [];
  });
  return { ...Object.fromEntries(inherited), ...given };
}

const trust = {
  /**
   * True: the server's own annotations decide what reads and what deletes. False: every tool is a write that a human
   * confirms, because a server's word about itself proves nothing.
   */
  trusted: z.boolean(),
  levels: levelRulesSchema.optional(),
};

const definitionSchema = z.discriminatedUnion("transport", [
  z.object({
    transport: z.literal("stdio"),
    command: z.string().min(1),
    args: z.array(z.string()).readonly(),
    /** Names of environment variables whose values are settings of the connection. */
    env: z.array(z.string().min(1)).readonly(),
    /** Absolute path. */
    cwd: z.string().optional(),
    ...trust,
  }),
  z.object({
    transport: z.literal("http"),
    url: z.url({ protocol: /^https?$/ }),
    /** True when the owner said that this address may be one of a private network, and without encryption. */
    isPrivate: z.boolean(),
    /** Names of request headers whose values are settings of the connection. */
    headers: z.array(z.string().min(1)).readonly(),
    /** Where the server asks its users to sign in at a provider. */
    signIn: z
      .object({
        flow: z.enum(["code", "client"]),
        /** Address of its metadata, as it said. */
        resourceMetadata: z.string().optional(),
        /** Asked for; empty: those that the metadata name. */
        scopes: z.array(z.string()).readonly(),
      })
      .optional(),
    ...trust,
  }),
]);

/** How an MCP server is reached. */
export type McpDefinition = z.output<typeof definitionSchema>;

/** @throws ServiceError 422 `integration_misconfigured`. */
export function readMcpDefinition(stored: unknown): McpDefinition {
  const parsed = definitionSchema.safeParse(stored);
  if (parsed.success) return parsed.data;
  throw new ServiceError(422, "integration_misconfigured", "The stored address of this MCP server cannot be read.", {
    hint: 'Add it again with "svc add mcp".',
    cause: parsed.error,
  });
}

/** What a connection to the server is asked for: one secret for each variable or header. */
export function listMcpSettings(definition: McpDefinition): SettingField[] {
  const names = definition.transport === "stdio" ? definition.env : definition.headers;
  const help =
    definition.transport === "stdio" ? "Environment variable of the server." : "Header of each request to the server.";
  return names.map((name) => ({ name, label: name, kind: "secret", help }));
}

/** The settings as the text values of variables or headers. */
function pickSecrets(names: readonly string[], settings: Readonly<Record<string, unknown>>) {
  const found = names.flatMap((name) => {
    const value = settings[name];
    return typeof value === "string" ? [[name, value] as const] : [];
  });
  return Object.fromEntries(found);
}
