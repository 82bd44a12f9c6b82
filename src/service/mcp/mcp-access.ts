import { API_KEY_HEADER, API_KEY_PREFIX } from "../../wire/auth.ts";
import { OAUTH_SCOPES } from "../../wire/mcp.ts";
import type { ApiKeys, Principal } from "../auth/api-keys.ts";
import type { OAuth } from "../oauth/create-oauth.ts";

/** Who may use the MCP endpoint, or why not, in the words of RFC 6750. */
export type McpAccess =
  | { readonly type: "granted"; readonly principal: Principal }
  | { readonly type: "missing" | "invalid_token" | "insufficient_scope" };

/**
 * Reads the credentials of a request: an API key in either of its headers, or an OAuth access token with the scope
 * `openid` ("Authentication" 2 and 4). What begins like an API key is never tried as a token.
 */
export async function readMcpAccess(headers: Headers, parts: { keys: ApiKeys; oauth: OAuth }): Promise<McpAccess> {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.get("authorization") ?? "")?.[1];
  if (headers.has(API_KEY_HEADER) || bearer?.startsWith(API_KEY_PREFIX)) {
    const principal = await parts.keys.authenticate(headers);
    return principal === undefined ? { type: "invalid_token" } : { type: "granted", principal };
  }
  if (bearer === undefined) return { type: "missing" };
  const caller = await parts.oauth.authenticate(bearer);
  if (caller === undefined) return { type: "invalid_token" };
  if (!caller.scopes.has(OAUTH_SCOPES[0])) return { type: "insufficient_scope" };
  return { type: "granted", principal: caller.principal };
}
