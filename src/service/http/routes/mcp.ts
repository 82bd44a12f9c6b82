import type { Hono } from "hono";
import { z } from "zod";
import { API_KEY_HEADER, API_KEY_PREFIX } from "../../../shared/wire/constants.ts";
import {
  MCP_PATH,
  mcpListingSchema,
  OAUTH_SCOPES,
  rpcRequestSchema,
  rpcResponseSchema,
  SERVER_CARD_CONTENT_TYPE,
  serverCardSchema,
} from "../../../shared/wire/mcp.ts";
import type { ApiKeys, Principal } from "../../auth/api-keys.ts";
import { createValueGuard } from "../../files/body-limits.ts";
import { createMcp } from "../../mcp/create-mcp.ts";
import { isKnownCard, renderServerCard } from "../../mcp/server-card.ts";
import type { OAuth } from "../../oauth/create-oauth.ts";
import { OAUTH_PATHS } from "../../oauth/create-provider.ts";
import { ServiceError } from "../../service-error.ts";
import { bare, type Operation, query } from "../openapi/operation.ts";
import { renderBare } from "../render-outcome.ts";
import { type RouteEnv, readBytes, readLimit, unauthorized, watchClient } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { FIELDS, sendJson } from "../whole-answer.ts";

/** Largest body: as much as the endpoints that execute take besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

/** More than any model reads. */
const MOST_TOKENS = 10_000_000;
const BUDGET_TEXT =
  "All actions are listed as tools too while they come to at most so many tokens, at four characters each. 0: none is, and the model searches.";

const MCP = { path: MCP_PATH, tag: "MCP", access: "mcp" } as const;
/** The card on one of its two paths. */
function card(path: string): Operation {
  return {
    method: "get",
    path,
    summary: "The MCP server card.",
    tag: "MCP",
    access: "anybody",
    parameters: [{ name: "if-none-match", in: "header", description: "The etag of a card that is known." }],
    answers: {
      200: { description: "The card", body: serverCardSchema, contentType: SERVER_CARD_CONTENT_TYPE },
      304: { description: "The known card is the current one", body: "nothing" },
    },
  };
}

/** OpenAPI description of these endpoints. */
export const mcpOperations: readonly Operation[] = [
  {
    ...MCP,
    method: "get",
    summary: "Lists MCP tools, prompts and resources without a handshake.",
    answers: {
      200: { description: "The listing", body: mcpListingSchema },
      403: bare("The access token lacks the scope openid"),
      405: bare("A stream was asked for, and there is none"),
    },
  },
  {
    ...MCP,
    method: "post",
    summary: "Answers one JSON-RPC 2.0 message.",
    parameters: [{ ...query("maxToolTokens", BUDGET_TEXT), schema: z.int().min(0).max(MOST_TOKENS).default(0) }],
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
  card(`${MCP_PATH}/server-card`),
  card("/.well-known/mcp/server-card.json"),
];

/** "MCP": the endpoint, with an API key or an OAuth access token. */
export function addMcpRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const mcp = createMcp(parts);
  app.get(MCP_PATH, async (c) => {
    const access = await readMcpAccess(c.req.raw.headers, parts);
    if (access.type !== "granted") return refuseAccess(access, parts);
    const accept = c.req.header("accept") ?? "";
    // A client that asks for a stream must be told that there is none: the listing would make it ask again for ever.
    if (accept.includes("text/event-stream") && !accept.includes("application/json")) {
      const message = "This endpoint has no event stream; send requests by POST.";
      const refusal = renderBare(new ServiceError(405, "method_not_allowed", message));
      refusal.headers.set("allow", "POST");
      refusal.headers.set("vary", "Accept");
      return refusal;
    }
    return sendJson(mcp.list(), 200, { vary: "Accept" });
  });
  app.post(MCP_PATH, async (c) => {
    const access = await readMcpAccess(c.req.raw.headers, parts);
    if (access.type !== "granted") return refuseAccess(access, parts);
    c.set("principal", access.principal);
    const clientGone = watchClient(c.env);
    const bytes = await readBytes(c.env, { limit: BODY_LIMIT });
    createValueGuard()(bytes);
    const { status, body } = await mcp.answer({
      text: bytes.toString("utf8"),
      headers: {
        version: c.req.header("mcp-protocol-version"),
        method: c.req.header("mcp-method"),
        name: c.req.header("mcp-name"),
      },
      principal: access.principal,
      clientGone,
      maxToolTokens: readLimit(c.req.query("maxToolTokens"), { min: 0, max: MOST_TOKENS, byDefault: 0 }),
    });
    return body === undefined ? new Response(null, { status, headers: FIELDS }) : sendJson(body, status);
  });
}

/** The "MCP server card" on both of its paths: public, so it answers before the guards against other web sites. */
export function addServerCardRoutes(app: Hono<RouteEnv>, { baseUrl }: ServiceParts): void {
  const card = renderServerCard(baseUrl);
  const headers = {
    "content-type": SERVER_CARD_CONTENT_TYPE,
    etag: card.etag,
    "cache-control": "public, max-age=3600",
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "access-control-allow-methods": "GET",
    "access-control-allow-headers": "Content-Type, If-None-Match",
    "access-control-expose-headers": "ETag",
  };
  for (const path of [`${MCP_PATH}/server-card`, "/.well-known/mcp/server-card.json"]) {
    app.get(path, (c) => {
      const { "content-type": type, ...rest } = headers;
      if (isKnownCard(c.req.header("if-none-match"), card)) return c.body(null, 304, rest);
      return c.body(card.body, 200, { ...rest, "content-type": type });
    });
    app.options(path, (c) => c.body(null, 204, headers));
  }
}

/** Says where a client learns how to sign in (RFC 9728, 5.1). */
function refuseAccess(access: Exclude<McpAccess, { type: "granted" }>, { baseUrl }: ServiceParts): Response {
  const [scope] = OAUTH_SCOPES;
  const isKnown = access.type === "insufficient_scope";
  const message = `This access token lacks the scope ${scope}.`;
  const refusal = renderBare(
    isKnown
      ? new ServiceError(403, "insufficient_scope", message)
      : unauthorized(access.type === "expired" ? "expired" : "unknown", { bare: true }),
  );
  const metadata = `resource_metadata="${baseUrl}${OAUTH_PATHS.protectedResource}${MCP_PATH}"`;
  const error = access.type === "expired" ? "invalid_token" : access.type;
  const problem = access.type === "missing" ? "" : `error="${error}", `;
  refusal.headers.set("www-authenticate", `Bearer ${problem}${metadata}, scope="${scope}"`);
  return refusal;
}

/** Who may use the MCP endpoint, or why not, in the words of RFC 6750; `expired` is an `invalid_token` to it. */
type McpAccess =
  | { readonly type: "granted"; readonly principal: Principal }
  | { readonly type: "missing" | "invalid_token" | "insufficient_scope" | "expired" };

/**
 * Reads the credentials of a request: an API key in either of its headers, or an OAuth access token with the scope
 * `openid` ("Authentication" 2 and 4). A text with the prefix of API keys is never tried as a token.
 */
async function readMcpAccess(headers: Headers, parts: { keys: ApiKeys; oauth: OAuth }): Promise<McpAccess> {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (headers.has(API_KEY_HEADER) || bearer?.startsWith(API_KEY_PREFIX)) {
    const principal = await parts.keys.authenticate(headers);
    if (principal === "expired") return { type: "expired" };
    return principal === "unknown" ? { type: "invalid_token" } : { type: "granted", principal };
  }
  if (bearer === undefined) return { type: "missing" };
  const caller = await parts.oauth.authenticate(bearer);
  if (caller === undefined) return { type: "invalid_token" };
  if (caller === "expired") return { type: "expired" };
  if (!caller.scopes.has(OAUTH_SCOPES[0])) return { type: "insufficient_scope" };
  return { type: "granted", principal: caller.principal };
}
