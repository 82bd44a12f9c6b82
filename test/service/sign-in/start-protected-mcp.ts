import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import type { TestProvider } from "./start-provider.ts";

/** An MCP server over HTTP, with sessions, that takes only tokens of a provider that are meant for it. */
export type ProtectedMcp = Awaited<ReturnType<typeof startProtectedMcp>>;

/** Starts a server whose tool `look` needs the scope `read`, and whose tool `note` needs `write`. */
export async function startProtectedMcp(provider: Pick<TestProvider, "url" | "inspect">) {
  const notes: string[] = [];
  const tokens: string[] = [];
  const state = {
    /** Scopes that the metadata name. */
    scopes: ["read", "offline_access"] as readonly string[],
    /** Whether a 401 says where the metadata are. */
    tellsMetadata: true,
    /** True: tokens are refused as those of another audience. */
    refusesTokens: false,
    /** Whether a session is opened for everybody, and only its tools need a token. */
    opensFreely: false,
    sessions: 0,
  };
  const transports = new Map<string, StreamableHTTPServerTransport>();
  const http = createServer(async (request, response) => {
    const path = new URL(request.url ?? "", url).pathname;
    if (path === "/.well-known/oauth-protected-resource/mcp") {
      const metadata = {
        resource: `${url}/mcp`,
        authorization_servers: [provider.url],
        scopes_supported: state.scopes,
      };
      return void response.setHeader("content-type", "application/json").end(JSON.stringify(metadata));
    }
    if (path !== "/mcp") return void response.writeHead(404).end();
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1] ?? "";
    const claims = token === "" ? undefined : await provider.inspect(token);
    const refuse = (status: number, challenge: string) =>
      response.writeHead(status, { "www-authenticate": `Bearer ${challenge}` }).end();
    const metadata = state.tellsMetadata ? `, resource_metadata="${url}/.well-known/oauth-protected-resource/mcp"` : "";
    const body = await readBody(request);
    if (!state.opensFreely || body?.method?.startsWith("tools/") === true) {
      if (claims === undefined || claims.aud !== `${url}/mcp` || state.refusesTokens)
        return void refuse(401, `realm="mcp"${metadata}`);
      if (tokens.at(-1) !== token) tokens.push(token);
      const needed = body?.params?.name === "note" ? "write" : "read";
      if (!claims.scopes.has(needed)) {
        return void refuse(403, `error="insufficient_scope", scope="read ${needed}"${metadata}`);
      }
    }
    const id = String(request.headers["mcp-session-id"] ?? "");
    const transport = id === "" ? await open() : transports.get(id);
    if (transport === undefined) return void response.writeHead(404).end();
    await transport.handleRequest(request, response, body);
  }).listen(0, "127.0.0.1");

  async function open(): Promise<StreamableHTTPServerTransport> {
    const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => `session-${transports.size + 1}`,
      enableJsonResponse: true,
      onsessioninitialized: (id) => {
        state.sessions += 1;
        transports.set(id, transport);
      },
    });
    await createToolServer(notes).connect(transport);
    return transport;
  }

  await once(http, "listening");
  const address = http.address();
  const url = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  return Object.assign(state, {
    url: `${url}/mcp`,
    /** What writes have left. */
    notes,
    /** Each token that was taken, once. */
    tokens,
    async close() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  });
}

function createToolServer(notes: string[]): Server {
  const server = new Server({ name: "plans", title: "Plans", version: "1.0.0" }, { capabilities: { tools: {} } });
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

async function readBody(
  request: IncomingMessage,
): Promise<{ method?: string; params?: { name?: unknown } } | undefined> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part);
  return parts.length === 0 ? undefined : JSON.parse(Buffer.concat(parts).toString("utf8"));
}
