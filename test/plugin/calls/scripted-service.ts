import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request the server got. */
interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly text: string;
  /** The parsed body, when it is JSON. */
  readonly body: Record<string, unknown>;
}

/** What to answer: a JSON body, or something that breaks the connection. */
export type ScriptedReply =
  | { readonly status: number; readonly body: unknown; readonly headers?: Readonly<Record<string, string>> }
  | { readonly drop: true }
  | { readonly text: string; readonly status: number }
  | { readonly hang: true };

/** A real HTTP server that says what a test wants a service to say. */
export interface ScriptedService {
  readonly url: string;
  readonly seen: SeenRequest[];
  /** Requests to execute a tool. */
  executed(): SeenRequest[];
  /** Resolves when the first of them, or of those to the canonical endpoint, has arrived. */
  readonly whenExecuted: Promise<void>;
  /** Answers to the next requests for this path, with or without its query, in order; the last one stays. */
  answer(path: string, ...replies: ScriptedReply[]): void;
  /** Offers a tool in list and describe answers. */
  offer(tool: Readonly<Record<string, unknown>> & { readonly name: string }): void;
  close(): Promise<void>;
}

/** Starts the server on a free port of the loopback address. */
export async function startScriptedService(): Promise<ScriptedService> {
  const seen: SeenRequest[] = [];
  const replies = new Map<string, ScriptedReply[]>();
  const tools = new Map<string, Readonly<Record<string, unknown>>>();
  const executed = () => seen.filter((request) => request.path.endsWith("/execute"));
  const { promise: whenExecuted, resolve: tellExecuted } = Promise.withResolvers<void>();

  function choose(method: string, path: string): ScriptedReply {
    const [pathname = ""] = path.split("?");
    const queue = replies.get(path) ?? replies.get(pathname);
    const next = queue === undefined ? undefined : queue.length > 1 ? queue.shift() : queue[0];
    if (next !== undefined) return next;
    if (method === "GET" && pathname === "/api/tools") {
      const list = [...tools.values()].map((tool) => ({ ...tool, inputSchema: null }));
      return { status: 200, body: { tools: list, count: list.length, total: list.length, truncated: false } };
    }
    const tool = tools.get(decodeURIComponent(pathname.replace("/api/tools/", "")));
    if (method === "GET" && tool !== undefined) return { status: 200, body: { tool } };
    return { status: 404, body: { error: "Not found" } };
  }

  const server = createServer((request, response) => {
    void readBody(request).then((text) => {
      const { method = "GET", url: path = "/", headers } = request;
      seen.push({ method, path, headers, text, body: parse(text) });
      if (executed().length > 0 || (method === "POST" && path === "/api/executions")) tellExecuted();
      send(response, choose(method, path));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    executed,
    whenExecuted,
    answer: (path, ...list) => replies.set(path, list),
    offer: (tool) => tools.set(tool.name, tool),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  try {
    for await (const chunk of request) chunks.push(chunk as Buffer);
  } catch {
    // The caller went away; what arrived is kept.
  }
  return Buffer.concat(chunks).toString("utf8");
}

function send(response: ServerResponse, reply: ScriptedReply): void {
  if ("hang" in reply) return;
  if ("drop" in reply) {
    response.destroy();
    return;
  }
  const isText = "text" in reply;
  const headers = isText ? { "content-type": "text/html" } : { "content-type": "application/json", ...reply.headers };
  response.writeHead(reply.status, headers);
  response.end(isText ? reply.text : JSON.stringify(reply.body));
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A tool as this server offers it. */
export function createTool(
  name: string,
  effect: string,
  change: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> & { readonly name: string } {
  return {
    name,
    integration: "probe",
    description: `Does ${name}.`,
    inputSchema: { type: "object", properties: { text: { type: "string" } }, additionalProperties: false },
    canonical: {
      integration_id: "probe",
      action: { action_id: name, side_effect_level: effect, requires_confirmation: effect !== "read" },
    },
    ...change,
  };
}
