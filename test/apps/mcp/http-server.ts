import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { listenPausably } from "../../service/pausable-server.ts";
import type { HttpAnswer } from "../contract/http-faults.ts";

/** One request as it arrived. */
interface SeenRequest {
  readonly method: string;
  readonly headers: IncomingMessage["headers"];
  /** JSON-RPC method; empty for a GET or DELETE. */
  readonly asked: string;
}

/** An MCP server over HTTP on loopback, with sessions, that can be made to misbehave. */
export async function startHttpMcpServer() {
  const seen: SeenRequest[] = [];
  const notes: string[] = [];
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  let fault:
    | { readonly answer: HttpAnswer; readonly to: "calls" | "everything"; readonly from: Promise<void> | undefined }
    | undefined;

  const http = createServer(async (request, response) => {
    const body = await readBody(request);
    const asked = typeof body?.method === "string" ? body.method : "";
    seen.push({ method: request.method ?? "", headers: request.headers, asked });
    if (fault !== undefined && (fault.to === "everything" || asked === "tools/call")) {
      const { answer, from } = fault;
      await from;
      return misbehave(answer, request, response);
    }
    const id = String(request.headers["mcp-session-id"] ?? "");
    const transport = id === "" ? await openSession() : sessions.get(id);
    if (transport === undefined) return void response.writeHead(404).end();
    await transport.handleRequest(request, response, body);
  });

  async function openSession(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      enableJsonResponse: true,
      onsessioninitialized: (id) => void sessions.set(id, transport),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    await createToolServer(notes).connect(transport);
    return transport;
  }

  const { port, ...listener } = await listenPausably(http);
  return {
    url: `http://127.0.0.1:${port}/mcp`,
    seen,
    /** What writes have left. */
    notes,
    sessions,
    /** Answers tool calls, or everything, so until it is called without; not before `from`. */
    behave(answer?: HttpAnswer, to: "calls" | "everything" = "calls", from?: Promise<void>) {
      fault = answer === undefined ? undefined : { answer, to, from };
    },
    ...listener,
  };
}

function createToolServer(notes: string[]): Server {
  const server = new Server({ name: "remote", title: "Remote", version: "1.0.0" }, { capabilities: { tools: {} } });
  const nothing = { type: "object" as const, properties: {} };
  const text = { type: "object" as const, properties: { text: { type: "string" } }, required: ["text"] };
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: [
      { name: "look", description: "Looks.", inputSchema: nothing, annotations: { readOnlyHint: true } },
      { name: "note", description: "Notes.", inputSchema: text },
    ],
  }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
    if (params.name === "note") notes.push(String(params.arguments?.text));
    return { content: [{ type: "text", text: JSON.stringify({ notes }) }] };
  });
  return server;
}

function misbehave(answer: HttpAnswer, request: IncomingMessage, response: ServerResponse): void {
  if (answer.hang) return;
  if (answer.drop && answer.body !== undefined) {
    const cut = () => request.socket.destroy();
    return void response.writeHead(answer.status ?? 200, answer.headers).write(answer.body, cut);
  }
  if (answer.drop) return void request.socket.destroy();
  if (answer.open) return void response.writeHead(answer.status ?? 200, answer.headers).write(answer.body ?? "");
  response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
}

async function readBody(request: IncomingMessage): Promise<{ method?: unknown } | undefined> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString("utf8"));
}
