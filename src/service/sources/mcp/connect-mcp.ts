import { setTimeout as delay } from "node:timers/promises";
import type { Client, Transport } from "@modelcontextprotocol/client";
import { hideSecrets } from "../../secrets/hide-secrets.ts";
import { stopOnAbort } from "../../stop-on-abort.ts";
import { type McpDefinition, pickSecrets } from "./mcp-definition.ts";
import { createMcpFetch } from "./mcp-fetch.ts";
import { failAtStreamEnd } from "./stream-end.ts";

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

/**
 * Starts or reaches the server and agrees on a protocol version.
 *
 * A started server sees a short list of harmless variables and those of the definition, nothing else of this process.
 * Rejects with {@link McpConnectError}; a started process is ended again then.
 */
export async function connectMcp(
  definition: McpDefinition,
  settings: Readonly<Record<string, unknown>>,
  options: { signal?: AbortSignal; onClose?: () => void; onToolsChanged?: () => void } = {},
): Promise<McpSession> {
  const { Client } = await import("@modelcontextprotocol/client");
  let complaint = "";
  const client = new Client(
    { name: "svc", version: "1.0.0" },
    {
      capabilities: {},
      // A started server is asked in the older way first: the newer way would start it twice.
      ...(definition.transport === "http" && { versionNegotiation: { mode: "auto" } }),
    },
  );
  const { transport, endSession, release } = await createTransport(definition, settings, (text) => {
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
  /** What the server said for people, last lines. */
  readonly complaint: string;

  constructor(complaint: string, cause: unknown) {
    super(cause instanceof Error ? cause.message : "The connection failed.", { cause });
    this.complaint = complaint;
  }
}

interface OpenTransport {
  readonly transport: Transport;
  /** Tells a remote server that its session is over; waits for a moment only. Never rejects. */
  endSession(): Promise<void>;
  /** Frees what the transport does not know of. */
  release(): Promise<void>;
}

async function createTransport(
  definition: McpDefinition,
  settings: Readonly<Record<string, unknown>>,
  onComplaint: (text: string) => void,
): Promise<OpenTransport> {
  if (definition.transport === "http") {
    const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
    const headers = pickSecrets(definition.headers, settings);
    const { fetch, close } = createMcpFetch({ ...definition, headers });
    const transport = failAtStreamEnd(new StreamableHTTPClientTransport(new URL(definition.url), { fetch }));
    const endSession = async () => {
      await Promise.race([transport.terminateSession().catch(() => {}), delay(END_MS, undefined, { ref: false })]);
    };
    return { transport, endSession, release: close };
  }
  const { getDefaultEnvironment, StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const transport = new StdioClientTransport({
    command: definition.command,
    args: [...definition.args],
    env: { ...getDefaultEnvironment(), ...pickSecrets(definition.env, settings) },
    stderr: "pipe",
    ...(definition.cwd === undefined ? {} : { cwd: definition.cwd }),
  });
  transport.stderr?.on("data", (bytes: Buffer) => onComplaint(bytes.toString("utf8")));
  return { transport: joinCloses(transport), endSession: async () => {}, release: async () => {} };
}

/** The client closes too when it cannot connect, and a second close would not wait for the process to end. */
function joinCloses(transport: Transport): Transport {
  const close = transport.close.bind(transport);
  let closing: Promise<unknown> = Promise.resolve();
  transport.close = async () => {
    closing = Promise.all([closing, close()]);
    await closing;
  };
  return transport;
}
