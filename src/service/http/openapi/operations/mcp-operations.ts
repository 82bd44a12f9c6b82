import { z } from "zod";
import {
  mcpListingSchema,
  rpcRequestSchema,
  rpcResponseSchema,
  SERVER_CARD_CONTENT_TYPE,
  serverCardSchema,
} from "../../../../wire/mcp.ts";
import type { Operation, OperationParameter } from "../operation.ts";
import { bare } from "./answers.ts";

const IF_NONE_MATCH: OperationParameter = {
  name: "if-none-match",
  in: "header",
  description: "The etag of a card that is known.",
};

/** The card on one of its two paths. */
function card(path: string): Operation {
  return {
    method: "get",
    path,
    summary: "The MCP server card.",
    tag: "MCP",
    access: "anybody",
    parameters: [IF_NONE_MATCH],
    answers: {
      200: { description: "The card", body: serverCardSchema, contentType: SERVER_CARD_CONTENT_TYPE },
      304: { description: "The known card is the current one", body: "nothing" },
    },
  };
}

/** Metadata of OAuth, on one of its paths. */
function metadata(path: string, summary: string): Operation {
  const body = z.looseObject({});
  return {
    method: "get",
    path,
    summary,
    tag: "OAuth",
    access: "anybody",
    answers: { 200: { description: "The metadata", body } },
  };
}

/** "MCP", the server card and the discovery of OAuth. */
export const mcpOperations: readonly Operation[] = [
  {
    method: "get",
    path: "/api/mcp",
    summary: "Lists MCP tools, prompts and resources without a handshake.",
    tag: "MCP",
    access: "mcp",
    answers: {
      200: { description: "The listing", body: mcpListingSchema },
      403: bare("The access token lacks the scope openid"),
      405: bare("A stream was asked for, and there is none"),
    },
  },
  {
    method: "post",
    path: "/api/mcp",
    summary: "Answers one JSON-RPC 2.0 message.",
    tag: "MCP",
    access: "mcp",
    request: { required: true, content: { "application/json": rpcRequestSchema } },
    answers: {
      200: { description: "The response", body: rpcResponseSchema },
      202: { description: "The message was a notification", body: "nothing" },
      400: { description: "The message cannot be read or is not valid", body: rpcResponseSchema },
      403: bare("The access token lacks the scope openid"),
      404: { description: "The method is unknown", body: rpcResponseSchema },
      413: bare("The message is larger than 8 MB"),
    },
  },
  card("/api/mcp/server-card"),
  card("/.well-known/mcp/server-card.json"),
  metadata("/.well-known/oauth-protected-resource", "Where to get access tokens for the MCP endpoint."),
  metadata("/.well-known/oauth-protected-resource/api/mcp", "The same, for clients that add the path of the resource."),
  metadata("/.well-known/oauth-authorization-server", "What the authorization server can do."),
  metadata("/.well-known/openid-configuration", "The same, for OpenID Connect clients."),
];
