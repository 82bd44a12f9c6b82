import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { OAUTH_SCOPES } from "../../../wire/mcp.ts";
import { MCP_PATH } from "../../mcp/mcp-path.ts";
import { describeDestination, toFormTarget } from "../../oauth/destination.ts";
import { OAUTH_PATHS } from "../../oauth/oauth-paths.ts";
import { noOAuthRequestBody, oauthApprovalBody } from "../../pages/oauth-page.ts";
import { cleanText } from "../../registration/clean-text.ts";
import { ServiceError } from "../../service-error.ts";
import { listConnectedApps } from "../app-names.ts";
import type { RouteEnv } from "../guard.ts";
import { askToSignIn, findOwner, readOwnForm } from "../owner-browser.ts";
import { readCallerAddress } from "../read-caller-address.ts";
import { readDecision } from "../read-decision.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Longest app name on the page. */
const MAX_NAME = 60;

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
    await parts.oauth.answer(c.env, readCallerAddress(c.env));
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
    if (!isEnded) throw new ServiceError(404, "unknown_app", "This app has no access, or not any more.");
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
  app.get(`${OAUTH_PATHS.approve}/:uid`, async (c) => {
    const owner = await findOwner(c, parts);
    if (owner === undefined) return askToSignIn(c, parts);
    const { csrfToken } = owner;
    const pending = await parts.oauth.findPending(c.env, c.req.param("uid"));
    if (pending === undefined) {
      return sendPage(c, { title: "Nothing to decide", body: noOAuthRequestBody(), csrfToken, status: 410 });
    }
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
    const pending = await parts.oauth.findPending(c.env, c.req.param("uid"));
    if (pending === undefined) {
      const body = noOAuthRequestBody();
      return sendPage(c, { title: "Nothing to decide", body, csrfToken: owner.csrfToken, status: 410 });
    }
    const { accountId } = owner;
    const approved = readDecision(form) === "approve";
    const decision = approved ? ({ type: "approve", accountId } as const) : ({ type: "decline" } as const);
    return c.redirect(await parts.oauth.decide(c.env, pending, decision), 303);
  });
}
