import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Context, Hono } from "hono";
import { html } from "hono/html";
import { z } from "zod";
import { cleanText } from "../../../shared/base/text.ts";
import { MCP_PATH, OAUTH_SCOPES } from "../../../shared/wire/mcp.ts";
import { toSubject } from "../../auth/grants.ts";
import { OAUTH_PATHS } from "../../oauth/create-provider.ts";
import type { ApprovalMode } from "../../store/schema.ts";
import { limitNewcomers } from "../newcomer-limit.ts";
import type { Operation } from "../openapi/operation.ts";
import { ownerPages, readDecision } from "../owner-browser.ts";
import { listConnectedApps } from "../pages/app-names.ts";
import { describeAsked, foldLimits, listLimitNames, readGrant } from "../pages/limits.ts";
import { listRights, type Markup, messageBody, requestCard, sendPage } from "../pages/page.ts";
import { cutLateBody, type RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath } from "../session-path.ts";
import { sendJson } from "../whole-answer.ts";

/** Longest app name on the page. */
const MAX_NAME = 60;

/** Metadata of OAuth, on one of its paths. */
function metadata(path: string, summary: string): Operation {
  const answers = { 200: { description: "The metadata", body: z.looseObject({}) } };
  return { method: "get", path, summary, tag: "OAuth", access: "anybody", answers };
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
    app.get(path, () =>
      sendJson(
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
  const { authorizationServer, openidConfiguration, jwks, authorize, token, register, revoke } = OAUTH_PATHS;
  app.on("GET", [authorizationServer, openidConfiguration, jwks, authorize, `${authorize}/:uid`], answer);
  app.on("POST", [token, revoke], answer);
  app.post(register, limitNewcomers("client", parts), answer);
  addApprovalPage(app, parts);
}

function addApprovalPage(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const { oauth } = parts;
  const { addPage, addForm } = ownerPages(app, parts);
  const path = `${OAUTH_PATHS.approve}/:uid` as const;
  app.get(path, async (c, next) => {
    // The browser that began the request is known here only: at a session path it is known to be the owner's.
    if (readSessionPath(c.req.url) === "" && !(await oauth.isBegunHere(c.env, c.req.param("uid")))) {
      return sendPage(c, NOTHING);
    }
    return next();
  });
  addPage(path, async (c, { csrfToken }) => {
    const pending = await oauth.findPending(c.req.param("uid"));
    if (pending === undefined) return NOTHING;
    const { scopes: known } = await parts.grants.read(toSubject(pending.clientId));
    const names = await listLimitNames(parts);
    const body = approvalBody({
      ...describeApp(pending.clientName, pending.redirectUri),
      scopes: pending.scopes,
      apps: await listConnectedApps(parts),
      approvals: parts.approvals.isFixed ? undefined : (known.approvals ?? "owner"),
      limits: foldLimits({ scopes: known, names, isAsked: describeAsked(known, names).length > 0 }),
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
  addForm(path, async (c, { form, audit }) => {
    const pending = await oauth.findPending(c.req.param("uid"));
    if (pending === undefined) return NOTHING;
    const isApproved = readDecision(form) === "approve";
    if (isApproved) {
      const subject = toSubject(pending.clientId);
      const { scopes: asked } = await parts.grants.read(subject);
      const approvals = parts.approvals.isFixed ? undefined : "owner";
      await parts.grants.write(subject, readGrant(form, { asked, approvals }));
    }
    const did = `${isApproved ? "approved" : "declined"} the app`;
    const event = isApproved ? "device.approved" : "device.declined";
    audit({ event, did, name: pending.clientName, id: toSubject(pending.clientId) });
    return `${parts.baseUrl}${c.req.path}/${await oauth.sign(pending.id, readDecision(form))}`;
  });
  // Outside of the session path, where the browser shows that it began the request.
  app.get(`${path}/:decision`, async (c) => {
    const { uid, decision } = c.req.param();
    const next = await oauth.finish(c.env, uid, decision);
    return next === undefined ? sendPage(c, NOTHING) : c.redirect(next, 303);
  });
}

/** The request was answered, has ended, or began in another browser. */
const NOTHING = {
  title: "Nothing to decide",
  body: messageBody({
    heading: "Nothing to decide here",
    text: "This request was answered already, has ended after 15 minutes, or was started in another browser. Start again in the app.",
  }),
  status: 410,
} as const;

const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

interface DescribedApp {
  /** As the app calls itself; null when it gave no name. */
  readonly clientName: string | null;
  /** Where a browser ends up: the host, or the scheme of an installed app; empty when it is not known. */
  readonly destination: string;
  readonly isLocal: boolean;
}

/** Describes an app that asks for access, or has it. */
export function describeApp(name: string | undefined, redirectUri: string | undefined): DescribedApp {
  const clientName = cleanText(name, MAX_NAME);
  if (redirectUri === undefined) return { clientName, destination: "", isLocal: false };
  const { protocol, host, hostname } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb
    ? { clientName, destination: host, isLocal: LOOPBACK.has(hostname) }
    : { clientName, destination: `${protocol}//`, isLocal: true };
}

/** The source expression that lets a form lead there; an IPv6 address has none of its own. */
function toFormTarget(redirectUri: string): string {
  const { protocol, origin, hostname } = new URL(redirectUri);
  const isWeb = protocol === "http:" || protocol === "https:";
  return isWeb && !hostname.startsWith("[") ? origin : protocol;
}

/** Meaning of each scope for the owner. */
const SCOPE_TEXT: Readonly<Record<string, string>> = {
  openid: "Know which account it speaks for.",
  email: "Read the e-mail address of this account, if there is one.",
  profile: "Read the name of this account, if there is one.",
};

function approvalBody(
  o: DescribedApp & {
    readonly scopes: readonly string[];
    /** Names of connected apps. */
    readonly apps: readonly string[];
    readonly approvals: ApprovalMode | undefined;
    readonly limits: Markup;
    readonly action: string;
    readonly csrfToken: string;
  },
): Markup {
  const name = o.clientName ?? "this app";
  return requestCard({
    heading: `Give ${name} access?`,
    intro:
      "An app asks to use your connected apps through MCP. Approve it only if you started this yourself, just now.",
    facts: [
      ["App", html`${o.clientName ?? "No name given"} <span class="muted">(it chose this name itself)</span>`],
      [
        "Sends you to",
        html`<strong>${o.destination}</strong>${o.isLocal ? html` <span class="muted">(a program on this computer)</span>` : ""}`,
      ],
      ["Scopes", o.scopes.join(", ")],
    ],
    rightsHeading: "What it may do",
    rights: [
      ...o.scopes.flatMap((scope) => SCOPE_TEXT[scope] ?? []),
      ...listRights({ ...o, others: "devices or apps", mayChoose: o.approvals !== undefined }),
    ],
    approvals: o.approvals,
    limits: o.limits,
    footnote: "You can withdraw the access on the Devices page at any time.",
    action: o.action,
    csrfToken: o.csrfToken,
    approveLabel: "Approve",
  });
}
