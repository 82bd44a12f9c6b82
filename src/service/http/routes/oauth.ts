import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { z } from "zod";
import { cleanText } from "../../../base/text.ts";
import { MCP_PATH, OAUTH_SCOPES } from "../../../wire/mcp.ts";
import { OAUTH_PATHS } from "../../oauth/create-provider.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { listConnectedApps } from "../names.ts";
import type { Operation } from "../openapi/operation.ts";
import { askToSignIn, findOwner, readDecision, readOwnForm } from "../owner-browser.ts";
import { noOAuthRequestBody, oauthApprovalBody } from "../pages/oauth-page.ts";
import { sendPage } from "../pages/page.ts";
import { cutLateBody } from "../request-body.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath } from "../session-path.ts";

/** Longest app name on the page. */
const MAX_NAME = 60;

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

/** OpenAPI description of these endpoints. */
export const oauthOperations: readonly Operation[] = [
  metadata("/.well-known/oauth-protected-resource", "Where to get access tokens for the MCP endpoint."),
  metadata("/.well-known/oauth-protected-resource/api/mcp", "The same, for clients that add the path of the resource."),
  metadata("/.well-known/oauth-authorization-server", "What the authorization server can do."),
  metadata("/.well-known/openid-configuration", "The same, for OpenID Connect clients."),
];

/** OAuth 2.0 for `/api/mcp` ("Authentication" 4): metadata, the library's own addresses, and our approval page. */
export function addOAuthRoutes(app: Hono<RouteEnv>, parts: ServiceParts): void {
  for (const path of [OAUTH_PATHS.protectedResource, `${OAUTH_PATHS.protectedResource}${MCP_PATH}`]) {
    app.get(path, (c) =>
      c.json(
        {
          resource: `${parts.baseUrl}${MCP_PATH}`,
          authorization_servers: [parts.baseUrl],
          // The least that is needed: clients without other advice ask for all of it.
          scopes_supported: [OAUTH_SCOPES[0]],
          bearer_methods_supported: ["header"],
          resource_name: "svc",
        },
        200,
        { "access-control-allow-origin": "*", "cache-control": "public, max-age=3600" },
      ),
    );
  }
  const answer = async (c: Context<RouteEnv>) => {
    if (!c.env.incoming.complete) cutLateBody(c.env);
    await parts.oauth.answer(c.env);
    return RESPONSE_ALREADY_SENT;
  };
  app.get(OAUTH_PATHS.authorizationServer, answer);
  app.get(OAUTH_PATHS.openidConfiguration, answer);
  app.get(OAUTH_PATHS.jwks, answer);
  app.get(OAUTH_PATHS.authorize, answer);
  app.get(`${OAUTH_PATHS.authorize}/:uid`, answer);
  app.post(OAUTH_PATHS.token, answer);
  app.post(OAUTH_PATHS.register, answer);
  app.post(OAUTH_PATHS.revoke, answer);
  addApprovalPage(app, parts);
  app.post("/oauth/apps/:id/end", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const isEnded = await parts.oauth.endApp(owner.accountId, c.req.param("id"));
    if (!isEnded) throw new ServiceError(404, "unknown_app", "This app does not have access.");
    return c.redirect("/devices?notice=withdrawn", 303);
  });
}

/** The apps of the Devices page, named for people. */
export async function listOAuthApps(parts: ServiceParts, accountId: string) {
  const apps = await parts.oauth.listApps(accountId);
  return apps.map((app) => ({
    ...app,
    label: cleanText(app.name, MAX_NAME) ?? "No name given",
    destination: app.redirectUri === undefined ? "" : describeDestination(app.redirectUri).destination,
  }));
}

function addApprovalPage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { oauth } = parts;
  const nothing = (c: Context<RouteEnv>, csrfToken?: string) =>
    sendPage(c, { title: "Nothing to decide", body: noOAuthRequestBody(), csrfToken, status: 410 });
  app.get(`${OAUTH_PATHS.approve}/:uid`, async (c) => {
    // The browser that began the request is known here only: at a session path it is known to be the owner's.
    if (readSessionPath(c.req.url) === "" && !(await oauth.isBegunHere(c.env, c.req.param("uid")))) return nothing(c);
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const pending = await oauth.findPending(c.req.param("uid"));
    if (pending === undefined) return nothing(c, csrfToken);
    const body = oauthApprovalBody({
      ...pending,
      ...describeDestination(pending.redirectUri),
      clientName: cleanText(pending.clientName, MAX_NAME),
      apps: await listConnectedApps(parts),
      action: c.req.path,
      csrfToken,
    });
    const page = await sendPage(c, { title: "Approve an app", body, csrfToken });
    // Browsers hold the redirects that follow a form against this rule too, up to the app's own address.
    const rules = page.headers.get("content-security-policy") ?? "";
    const target = toFormTarget(pending.redirectUri);
    page.headers.set("content-security-policy", rules.replace("form-action 'self'", `form-action 'self' ${target}`));
    return page;
  });
  app.post(`${OAUTH_PATHS.approve}/:uid`, async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const pending = await oauth.findPending(c.req.param("uid"));
    if (pending === undefined) return nothing(c, owner.csrfToken);
    const decision = await oauth.sign(pending.id, readDecision(form));
    return c.redirect(`${parts.baseUrl}${c.req.path}/${decision}`, 303);
  });
  // Outside of the session path, where the browser shows that it began the request.
  app.get(`${OAUTH_PATHS.approve}/:uid/:decision`, async (c) => {
    const { uid, decision } = c.req.param();
    const next = await oauth.finish(c.env, uid, decision);
    return next === undefined ? nothing(c) : c.redirect(next, 303);
  });
}

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/** Where a browser ends up, in words for the owner: the host, or the scheme of an installed app. */
function describeDestination(redirectUri: string): { destination: string; isLocal: boolean } {
  const { protocol, host, hostname } = new URL(redirectUri);
  if (protocol !== "http:" && protocol !== "https:") return { destination: `${protocol}//`, isLocal: true };
  return { destination: host, isLocal: LOOPBACK.has(hostname) };
}

/** The source expression that lets a form lead there; an IPv6 address has none of its own. */
function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb && !hostname.startsWith("[") ? origin : protocol;
}
