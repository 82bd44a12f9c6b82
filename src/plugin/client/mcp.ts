import { isRecord, parseJson } from "../../shared/base/json.ts";
import { SvcError } from "../../shared/errors.ts";
import {
  type RpcResponse,
  rpcResponseSchema,
  SERVER_CARD_CONTENT_TYPE,
  type ServerCard,
  serverCardSchema,
} from "../../shared/wire/mcp.ts";
import { nameRequest, PAIR_AGAIN } from "./failure.ts";

import { badResponse, readResource } from "./reply.ts";
import type { CallOptions, Transport } from "./transport.ts";

/** One JSON-RPC call; `jsonrpc` is filled in, and `id` when it is left out. */
export interface McpCall {
  readonly jsonrpc?: "2.0" | undefined;
  readonly id?: number | string | undefined;
  readonly method: string;
  readonly params?: Readonly<Record<string, unknown>> | undefined;
}

/** The two addresses of the server card ("MCP"). */
export const SERVER_CARD_PATHS = ["/api/mcp/server-card", "/.well-known/mcp/server-card.json"] as const;

export type ServerCardPath = (typeof SERVER_CARD_PATHS)[number];

/** Server cards already fetched by this client, with the `ETag` each came with. */
export type CardCache = Map<ServerCardPath, { readonly etag: string; readonly card: ServerCard }>;

/** `POST /api/mcp`. A JSON-RPC error is returned in the `error` member, as the document says. */
export async function callMcp(transport: Transport, call: McpCall, options?: CallOptions): Promise<RpcResponse> {
  const { id = 1, method, params } = call;
  const body = { jsonrpc: "2.0", id, method, ...(params === undefined ? {} : { params }) };
  const reply = await transport.call({ method: "POST", path: "/api/mcp", body, options });
  const parsed = rpcResponseSchema.safeParse(reply.json);
  if (!parsed.success) return readResource(reply, rpcResponseSchema);
  if (reply.status !== 401) return parsed.data;
  throw new SvcError("unauthorized", nameRequest("The API key was not accepted.", reply.label), {
    status: 401,
    hint: PAIR_AGAIN,
    sent: true,
  });
}

/** The result of an MCP tool as an object: its structured content, or the JSON in its first text. */
export function readToolContent(result: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
  if (isRecord(result.structuredContent)) return result.structuredContent;
  const first: unknown = Array.isArray(result.content) ? result.content[0] : undefined;
  if (!isRecord(first) || typeof first.text !== "string") return undefined;
  const value = parseJson(first.text);
  return isRecord(value) ? value : undefined;
}

/** `GET /api/mcp/server-card` or its well-known address; no key is sent. A 304 answers from `cache`. */
export async function getServerCard(
  transport: Transport,
  card: { readonly path: ServerCardPath; readonly cache: CardCache },
  options?: CallOptions,
): Promise<ServerCard> {
  const known = card.cache.get(card.path);
  const headers: Record<string, string> = { accept: `${SERVER_CARD_CONTENT_TYPE}, application/json` };
  if (known !== undefined) headers["if-none-match"] = known.etag;
  const reply = await transport.call({ method: "GET", path: card.path, headers, credential: "none", options });
  if (reply.status === 304) {
    if (known === undefined) throw badResponse(reply);
    return known.card;
  }
  const fresh = readResource(reply, serverCardSchema);
  const etag = reply.headers.etag;
  if (etag === undefined) card.cache.delete(card.path);
  else card.cache.set(card.path, { etag, card: fresh });
  return fresh;
}
