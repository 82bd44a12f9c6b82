import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
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
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import manifest from "../../../../plugin.manifest.json" with { type: "json" };
import { placesUnder } from "../../../../src/cli/context.ts";
import { type McpServing, serveMcp } from "../../../../src/plugin/runtimes/mcp/serve-mcp.ts";

/** The official clients, each with `svc mcp` as the process that it starts, or with the same server in this process. */

const BIN = fileURLToPath(new URL("../../../../src/bin.ts", import.meta.url));
export const CLIENTS = ["2, newest revision", "2, older revision", "1"] as const;
type ClientKind = (typeof CLIENTS)[number];

/** A question that the client would show: a form with its text, or a link. */
interface Shown {
  readonly message: string;
  readonly url?: string;
}
type Answer = { action: "accept" | "decline" | "cancel"; content?: Record<string, string | boolean> | null };

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
  options: ClientOptions = {},
): Promise<TestClient> {
  const Transport = options.kind === "1" ? FirstTransport : StdioClientTransport;
  const transport = new Transport({ ...command, stderr: "pipe" });
  let stderr = "";
  transport.stderr?.on("data", (part: Buffer) => {
    stderr += part.toString();
  });
  const client = await openClient(transport, options);
  return { ...client, stderr: () => stderr, pid: transport.pid ?? 0 };
}

/** Serves the tools as `svc mcp` does for a home folder, in this process, and connects to it. */
export async function connectHere(
  home: string,
  { url: baseUrl, apiKey }: { url: string; apiKey: string },
  {
    waitMs = 50_000,
    tools = [],
    maxToolTokens = 0,
    session = {},
    answersAfterMs = 60_000,
    ...options
  }: ClientOptions &
    Partial<Pick<McpServing, "waitMs" | "tools" | "maxToolTokens">> & {
      readonly session?: object;
      readonly answersAfterMs?: number;
    } = {},
): Promise<TestClient & { readonly lines: LineTap }> {
  const { media, state } = placesUnder(home);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let stderr = "";
  let clock = 0;
  const served = serveMcp({
    session: { baseUrl, apiKey, mediaRoots: [media], stateDir: state, ...session },
    version: "1.0.0",
    tools,
    maxToolTokens,
    waitMs,
    input,
    output,
    log: (line) => {
      stderr += `svc: ${line}\n`;
    },
    signal: new AbortController().signal,
    // Read once for a question and once for its answer.
    now: () => {
      clock += answersAfterMs;
      return clock;
    },
  });
  // A transport over two streams serves both ends.
  const client = await openClient(new StdioServerTransport(output, input), options);
  // Not earlier: a stream that is read loses what nobody else reads yet.
  const lines = new LineTap(input, output);
  const close = async () => {
    await client.close();
    input.end();
    await served;
  };
  return { ...client, stderr: () => stderr, pid: process.pid, close, lines };
}

/** The calls of tools that a client has sent, as they were on the wire. */
class LineTap {
  readonly sent: string[] = [];
  readonly #input: PassThrough;
  readonly #waiting = new Map<string, () => void>();

  constructor(input: PassThrough, output: PassThrough) {
    this.#input = input;
    createInterface({ input: input.pipe(new PassThrough()) }).on("line", (line) => {
      if (line.includes('"tools/call"') && !this.sent.includes(line)) this.sent.push(line);
    });
    createInterface({ input: output.pipe(new PassThrough()) }).on("line", (line) => {
      this.#waiting.get(readId(line))?.();
    });
  }

  /** Sends a line once more, and waits for its answer. */
  async repeat(line: string): Promise<void> {
    const answered = new Promise<void>((resolve) => this.#waiting.set(readId(line), resolve));
    this.#input.write(`${line}\n`);
    await answered;
  }
}

function readId(line: string): string {
  return JSON.stringify((JSON.parse(line) as { id?: unknown }).id);
}

async function openClient(
  transport: object,
  { kind = CLIENTS[0], human, canOpenLinks = false }: ClientOptions,
): Promise<Omit<TestClient, "stderr" | "pid">> {
  const shown: Shown[] = [];
  const elicitation = { form: {}, ...(canOpenLinks ? { url: {} } : {}) };
  const capabilities = human === undefined ? {} : { elicitation };
  const identity = { name: "svc-test", version: "1.0.0" };
  let changes = 0;
  const countChange = () => {
    changes += 1;
  };
  const ask = async (params: { message: string; url?: unknown }) => {
    const question = { message: params.message, ...(typeof params.url === "string" ? { url: params.url } : {}) };
    shown.push(question);
    return (await human?.(question)) ?? { action: "cancel" as const };
  };
  const client =
    kind === "1"
      ? new FirstClient(identity, { capabilities })
      : new Client(identity, {
          capabilities,
          versionNegotiation: { mode: kind === CLIENTS[0] ? "auto" : "legacy" },
          listChanged: { tools: { autoRefresh: false, onChanged: countChange } },
        });
  if (client instanceof FirstClient) {
    if (human !== undefined) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => ask(params));
    client.setNotificationHandler(ToolListChangedNotificationSchema, countChange);
  } else if (human !== undefined) {
    // Answers that the library does not know are sent too.
    client.setRequestHandler("elicitation/create", async ({ params }) => (await ask(params)) as never);
  }
  // The transports and the clients of the two packages differ in their types, not in what they are here.
  await client.connect(transport as never);
  return {
    shown,
    changes: () => changes,
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
