import { type Readable, Transform, type Writable } from "node:stream";
import { Server, STDIO_DEFAULT_MAX_BUFFER_SIZE } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import { markJson, unmarkJson } from "../../../shared/base/exact-number.ts";
import { LineReader } from "../../../shared/base/line-reader.ts";
import { SKILLS_EXTENSION } from "../../../shared/wire/mcp-skill.ts";
import { CALLER_GONE } from "../../calls/ask/abort.ts";
import { createToolSession, type ToolSession, type ToolSessionOptions } from "../../calls/session.ts";
import type { SessionEvent } from "../../calls/session-events.ts";
import { showLink } from "./human-channel.ts";
import { createOfferedTools } from "./offered-tools.ts";
import type { OpenCall } from "./open-call.ts";
import { serveResources } from "./serve-resources.ts";
import { QUESTION_MS, type RequestParts, takeRequest } from "./take-request.ts";

/** Settings of {@link serveMcp}. */
export interface McpServing {
  /** The approver is chosen here: leave `approve` and `onEvent` out. */
  readonly session: ToolSessionOptions;
  /** Version of this package. */
  readonly version: string;
  /** Full names of the tools to list from the start, beside the `svc_*` ones. */
  readonly tools: readonly string[];
  /** Lists all actions while a model reads them within so many tokens, at four characters each; 0: it searches. */
  readonly maxToolTokens: number;
  /** Milliseconds that a call waits for the owner of the service; clients give up after a time of their own. */
  readonly waitMs: number;
  readonly input: Readable;
  /** Carries the protocol alone. */
  readonly output: Writable;
  readonly log: (line: string) => void;
  /** Ends the server. */
  readonly signal: AbortSignal;
  /** Milliseconds from any start, to time answers to forms. Default: those of this process. */
  readonly now?: () => number;
}

/** What a client tells its model of the tools as a whole. */
export const INSTRUCTIONS = [
  "Tools of the user's connected apps. Search with svc_search_tools, describe a tool before its first call, then call it",
  "with svc_call_tool, or by its own name once listed.",
  "To send a local file, give its absolute path as the file argument; only files in the user's media folders are sent.",
  "Writes wait for the user's approval, which no argument can give. When a result says that the call waits for the owner,",
  "give the user its link and make the same call again later.",
].join(" ");

/** Time for requests in flight once the client has gone. */
const LEAVE_MS = 10_000;

/**
 * Serves the user's tools to one MCP client over a pair of streams, in all revisions of the protocol that the library
 * knows, until the input ends or `signal` fires. A call that waits for its owner then goes on waiting in the service.
 *
 * @throws SvcError for bad settings
 */
export async function serveMcp(o: McpServing): Promise<void> {
  const calls = new Map<string, OpenCall>();
  const servers = new Set<Server>();
  const session = await createToolSession({ ...o.session, onEvent: (event) => report(o, calls, event) });
  const onChange = () => servers.forEach((server) => void server.sendToolListChanged().catch(() => undefined));
  const offered = createOfferedTools(session, { names: o.tools, maxToolTokens: o.maxToolTokens, onChange });
  try {
    // Before the library listens: it aborts its requests when the input ends, which takes no call back.
    const gone = watchEnd(o);
    const now = o.now ?? (() => performance.now());
    const parts: RequestParts = { waitMs: o.waitMs, calls, offered, gone: gone.signal, now };
    const lines = o.input.pipe(markLines());
    const connection = serveStdio(() => track(servers, createServer(parts, o.version)), {
      transport: new StdioServerTransport(lines, o.output),
      onerror: (error) => o.log(`Protocol error: ${error.message}`),
    });
    loadCatalog(session, o);
    await gone.promise;
    await leave(calls, o.signal);
    await connection.close();
    o.input.unpipe(lines);
    o.input.pause();
  } finally {
    await session.close();
  }
}

/** The library parses the lines by itself. */
function markLines(): Transform {
  const lines = new LineReader({
    max: STDIO_DEFAULT_MAX_BUFFER_SIZE,
    onLine: (text) => marked.push(`${markJson(text)}\n`),
    onTooLong: () => marked.destroy(),
  });
  const marked = new Transform({
    transform(bytes: Buffer, _encoding, done) {
      lines.push(bytes);
      done();
    },
  });
  return marked;
}

function track(servers: Set<Server>, server: Server): Server {
  servers.add(server);
  return server;
}

function createServer(parts: RequestParts, version: string): Server {
  const server = new Server(
    { name: "svc", title: "svc", version },
    {
      capabilities: { tools: { listChanged: true }, resources: {}, extensions: { [SKILLS_EXTENSION]: {} } },
      instructions: INSTRUCTIONS,
      inputRequired: { roundTimeoutMs: QUESTION_MS },
    },
  );
  server.setRequestHandler("tools/list", async () => ({ tools: await parts.offered.list() }));
  server.setRequestHandler("tools/call", ({ params }, context) =>
    takeRequest(parts, unmarkJson(params) as typeof params, {
      context,
      capabilities: server.getClientCapabilities(),
    }),
  );
  serveResources(server);
  return server;
}

/** Learns how the client leaves: it closes the input, or no longer reads the output; or `signal` fires. */
function watchEnd({ input, output, signal: stopped }: McpServing) {
  const { promise, resolve } = Promise.withResolvers<void>();
  const gone = new AbortController();
  const end = () => {
    gone.abort();
    resolve();
  };
  for (const event of ["end", "close"]) input.once(event, end);
  output.once("error", end);
  stopped.addEventListener("abort", end, { once: true });
  if (stopped.aborted) end();
  return { promise, signal: gone.signal };
}

/** Requests in flight get some time to be answered and recorded; calls that wait for a human end at once. */
async function leave(calls: ReadonlyMap<string, OpenCall>, stopped: AbortSignal): Promise<void> {
  const open = [...calls.values()];
  for (const call of open) if (call.isWaiting) call.stop(CALLER_GONE);
  const late = AbortSignal.any([stopped, AbortSignal.timeout(LEAVE_MS)]);
  for (const call of open) {
    if (late.aborted) call.stop(CALLER_GONE);
    else late.addEventListener("abort", () => call.stop(CALLER_GONE), { once: true });
  }
  await Promise.all(open.map((call) => call.settled()));
}

/** The client is served meanwhile: searching and calling need no list. */
function loadCatalog(session: ToolSession, { log, signal }: McpServing): void {
  session.catalog.load({ signal }).catch((error: unknown) => {
    if (!signal.aborted) log(`The list of tools could not be read: ${error instanceof Error ? error.message : error}`);
  });
}

/** Sends the progress of a call to the client and events to the log. */
function report({ log }: McpServing, calls: ReadonlyMap<string, OpenCall>, event: SessionEvent): void {
  const call = "callId" in event ? calls.get(event.callId) : undefined;
  if (event.type === "sending") call?.tell(`Sending ${event.toolName}`);
  if (event.type === "uploading" && event.sentBytes === 0) call?.tell(`Uploading ${event.field} for ${event.toolName}`);
  if (event.type === "flow_progress")
    call?.tell(`The flow is ${event.status}${event.step === null ? "" : `, step ${event.step}`}`);
  if (event.type === "finished") log(`${event.toolName}: ${event.status}`);
  if (event.type !== "awaiting_owner") return;
  if (event.reason !== undefined) call?.tell(event.reason);
  log(`${event.toolName} waits for the owner of the service${event.url === undefined ? "" : `: ${event.url}`}`);
  if (call !== undefined) showInbox(call, event.url);
}

function showInbox(call: OpenCall, url: string | undefined): void {
  call.held = { url };
  const what = "Waiting for the owner of the service";
  call.tell(url === undefined ? what : `${what}: ${url}`);
  if (url === undefined || !call.can.url) return;
  // Opening the link decides nothing, and neither does leaving it closed.
  const message = "This call waits for your approval in the inbox of your svc service.";
  call.ask(showLink(message, url), call.signal).catch(() => undefined);
}
