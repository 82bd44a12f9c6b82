import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { Client as FirstClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as FirstTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import {
  CallToolResultSchema,
  ElicitRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import manifest from "../../../plugin.manifest.json" with { type: "json" };

/** The official clients, each with `svc mcp` as the process that it starts. */

const BIN = fileURLToPath(new URL("../../../src/bin.ts", import.meta.url));
export const CLIENTS = ["2, newest revision", "2, older revision", "1"] as const;
type ClientKind = (typeof CLIENTS)[number];

/** A question that the client would show: a form with its text, or a link. */
interface Shown {
  readonly message: string;
  readonly url?: string;
}
type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> };

export interface ClientOptions {
  readonly kind?: ClientKind;
  /** The human at the client; without it the client shows neither forms nor links. */
  readonly human?: (shown: Shown) => Answer | Promise<Answer>;
  readonly canOpenLinks?: boolean;
}

export interface TestClient {
  readonly shown: Shown[];
  readonly stderr: () => string;
  readonly changes: () => number;
  readonly pid: number;
  listTools(): Promise<{ name: string; description?: string | undefined; annotations?: object | undefined }[]>;
  /** The structured content of the result, with `isError`. */
  call(name: string, args: object, options?: CallOptions): Promise<Record<string, unknown>>;
  close(): Promise<void>;
}

interface CallOptions {
  readonly signal?: AbortSignal;
  readonly onprogress?: (progress: { message?: string | undefined }) => void;
}

/** The command that starts `svc mcp` from the sources, for a service and a home folder. */
export function svcMcp(home: string, { url, apiKey }: { url: string; apiKey: string }, ...args: string[]) {
  const env = { SVC_HOME: home, SVC_BASE_URL: url, SVC_API_KEY: apiKey, PATH: process.env.PATH ?? "" };
  return { command: process.execPath, args: [BIN, ...manifest.entries.mcp.args, ...args], env };
}

/** Starts the command and connects to it. */
export async function connectClient(
  command: { command: string; args: string[]; env: Record<string, string> },
  { kind = CLIENTS[0], human, canOpenLinks = false }: ClientOptions = {},
): Promise<TestClient> {
  const shown: Shown[] = [];
  const elicitation = { form: {}, ...(canOpenLinks ? { url: {} } : {}) };
  const capabilities = human === undefined ? {} : { elicitation };
  const identity = { name: "svc-test", version: "1.0.0" };
  let changes = 0;
  const countChange = () => {
    changes += 1;
  };
  let stderr = "";
  const ask = async (params: { message: string; url?: unknown }) => {
    const question = { message: params.message, ...(typeof params.url === "string" ? { url: params.url } : {}) };
    shown.push(question);
    return (await human?.(question)) ?? { action: "cancel" as const };
  };
  const isFirst = kind === "1";
  const transport = isFirst
    ? new FirstTransport({ ...command, stderr: "pipe" })
    : new StdioClientTransport({ ...command, stderr: "pipe" });
  transport.stderr?.on("data", (part: Buffer) => {
    stderr += part.toString();
  });
  const client = isFirst
    ? new FirstClient(identity, { capabilities })
    : new Client(identity, {
        capabilities,
        versionNegotiation: { mode: kind === CLIENTS[0] ? "auto" : "legacy" },
        listChanged: { tools: { autoRefresh: false, onChanged: countChange } },
      });
  if (client instanceof FirstClient) {
    if (human !== undefined) client.setRequestHandler(ElicitRequestSchema, ({ params }) => ask(params));
    client.setNotificationHandler(ToolListChangedNotificationSchema, countChange);
  } else if (human !== undefined) {
    client.setRequestHandler("elicitation/create", ({ params }) => ask(params));
  }
  // The transports and the clients of the two packages differ in their types, not in what they are here.
  await client.connect(transport as never);
  return {
    shown,
    stderr: () => stderr,
    changes: () => changes,
    pid: transport.pid ?? 0,
    listTools: async () => (await client.listTools()).tools,
    async call(name, args, options = {}) {
      const params = { name, arguments: { ...args } };
      const more = { timeout: 30_000, ...options };
      const result =
        client instanceof FirstClient ? await callFirst(client, params, more) : await client.callTool(params, more);
      return { isError: result.isError === true, ...(result.structuredContent as object | undefined) };
    },
    close: () => client.close(),
  };
}

async function callFirst(client: FirstClient, params: { name: string; arguments: object }, options: CallOptions) {
  const { isError, structuredContent } = await client.callTool(
    { ...params, arguments: { ...params.arguments } },
    CallToolResultSchema,
    options,
  );
  return { isError, structuredContent };
}

/** A temporary home with a media folder; `remove` deletes it. */
export async function makeHome() {
  const home = await mkdtemp(join(tmpdir(), "svc-mcp-"));
  const media = join(home, "media");
  await mkdir(media, { mode: 0o700 });
  return { home, media, remove: () => rm(home, { recursive: true, force: true }) };
}
