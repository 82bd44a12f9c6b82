import type { Context, Hono } from "hono";
import { OAUTH_SCOPES, SERVER_CARD_CONTENT_TYPE } from "../../../wire/mcp.ts";
import { createMcp } from "../../mcp/create-mcp.ts";
import { type McpAccess, readMcpAccess } from "../../mcp/mcp-access.ts";
import { MCP_PATH } from "../../mcp/mcp-path.ts";
import { isKnownCard, renderServerCard } from "../../mcp/server-card.ts";
import { OAUTH_PATHS } from "../../oauth/oauth-paths.ts";
import { ServiceError } from "../../service-error.ts";
import { type RouteEnv, unauthorized } from "../guard.ts";
import { watchClient } from "../incoming-body.ts";
import { readBytes } from "../read-json.ts";
import { renderBare } from "../render-error.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Largest body: as much as the endpoints that execute take besides file bytes. */
const BODY_LIMIT = 8 * 1024 * 1024;

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
    return c.json(mcp.list(), 200, { vary: "Accept" });
  });
  app.post(MCP_PATH, async (c) => {
    const access = await readMcpAccess(c.req.raw.headers, parts);
    if (access.type !== "granted") return refuseAccess(access, parts);
    const clientGone = watchClient(c.env);
    const text = (await readBytes(c.req.raw, BODY_LIMIT)).toString("utf8");
    const { status, body } = await mcp.answer({
      text,
      headers: readHeaders(c),
      principal: access.principal,
      clientGone,
    });
    const headers = body === undefined ? {} : { "content-type": "application/json" };
    return new Response(body === undefined ? null : JSON.stringify(body), { status, headers });
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

function readHeaders(c: Context<RouteEnv>) {
  return {
    version: c.req.header("mcp-protocol-version"),
    method: c.req.header("mcp-method"),
    name: c.req.header("mcp-name"),
  };
}

/** Says where a client learns how to sign in (RFC 9728, 5.1). */
function refuseAccess(access: Exclude<McpAccess, { type: "granted" }>, { baseUrl }: ServiceParts): Response {
  const [scope] = OAUTH_SCOPES;
  const isKnown = access.type === "insufficient_scope";
  const message = `This access token lacks the scope ${scope}.`;
  const refusal = renderBare(
    isKnown ? new ServiceError(403, "insufficient_scope", message) : unauthorized({ bare: true }),
  );
  const metadata = `resource_metadata="${baseUrl}${OAUTH_PATHS.protectedResource}${MCP_PATH}"`;
  const problem = access.type === "missing" ? "" : `error="${access.type}", `;
  refusal.headers.set("www-authenticate", `Bearer ${problem}${metadata}, scope="${scope}"`);
  return refusal;
}
