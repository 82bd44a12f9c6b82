import { call, type Reply } from "../http-calls.ts";

/** Where requests go and with which key. */
export interface McpTarget {
  readonly url: string;
  readonly apiKey: string;
}

/** The `_meta` of a request in revision 2026-07-28. */
export function modernMeta(clientCapabilities: object = {}): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": clientCapabilities,
  };
}

/** Sends a body to the endpoint, as it is when it is a text; `search` is the query of its address. */
export function postMcp(
  target: McpTarget,
  body: unknown,
  headers: Record<string, string> = {},
  search = "",
): Promise<Reply> {
  return call(`${target.url}/api/mcp${search}`, {
    method: "POST",
    key: target.apiKey,
    headers: { "content-type": "application/json", ...headers },
    body: typeof body === "string" ? body : JSON.stringify(body),
  });
}

/** One request as the API document shows it, without any header of a revision. */
export function sendLegacy(target: McpTarget, method: string, params?: object): Promise<Reply> {
  return postMcp(target, { jsonrpc: "2.0", id: 1, method, ...(params && { params }) });
}

/** One request in revision 2026-07-28, with the headers that revision asks for. */
export function sendModern(
  target: McpTarget,
  method: string,
  { capabilities = {}, ...params }: Record<string, unknown> & { capabilities?: object } = {},
): Promise<Reply> {
  const name = params.name ?? params.uri;
  const headers = {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(typeof name === "string" && { "mcp-name": name }),
  };
  const body = { jsonrpc: "2.0", id: "a-1", method, params: { ...params, _meta: modernMeta(capabilities) } };
  return postMcp(target, body, headers);
}

/** Calls a tool in the legacy form and returns its result. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into results of many shapes
export async function callTool(target: McpTarget, name: string, args: object = {}): Promise<any> {
  const { json } = await sendLegacy(target, "tools/call", { name, arguments: args });
  if (json.result === undefined) throw new Error(JSON.stringify(json));
  return json.result;
}
