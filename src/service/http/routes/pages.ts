import type { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import type { OwnerSession } from "../../auth/owner-sessions.ts";
import { OWNER_SESSION_LIFETIME_MS } from "../../auth/owner-sessions.ts";
import { isSameHash } from "../../auth/secrets.ts";
import { approvalBody, decidedBody, unknownSessionBody } from "../../pages/approval-page.ts";
import { homeBody } from "../../pages/home-page.ts";
import { deadLinkBody, notSignedInBody, signedOutBody } from "../../pages/sign-in-page.ts";
import { PAIRING_LIFETIME_MS } from "../../registration/pairing.ts";
import { ServiceError } from "../../service-error.ts";
import type { RouteEnv } from "../guard.ts";
import { readBytes } from "../read-json.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

type Request = Context<RouteEnv>;

const FORM_LIMIT = 16 * 1024;
/** Remembers the approval page a human came for before signing in. */
const NEXT_COOKIE = "svc_next";
/** The pages a sign-in may lead to; anything else leads home. */
const NEXT_PAGE = /^\/(pair\/[A-Za-z0-9_-]{20,64})?$/;

/** Pages for the owner's browser. They look only at the session cookie: an API key means nothing here. */
export function addPageRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  addSignInRoutes(app, parts);
  addApprovalRoutes(app, parts);
  addHomeRoutes(app, parts);
}

function addSignInRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/sign-in", async (c) => {
    // A preview or prefetch of the link must not spend it.
    if (c.req.method === "HEAD" || c.req.header("sec-purpose")?.includes("prefetch")) return c.body(null, 204);
    const next = [c.req.query("next"), getCookie(c, NEXT_COOKIE)].find((path) => path && NEXT_PAGE.test(path)) ?? "/";
    const secret = await parts.sessions.signIn(c.req.query("token") ?? "");
    if (secret === undefined) {
      if ((await findSession(c, parts)) !== undefined) return c.redirect(next, 303);
      return sendPage(c, { title: "Link no longer works", body: deadLinkBody(), status: 410 });
    }
    setCookie(c, sessionCookie(parts), secret, { ...cookieRules(parts), maxAge: OWNER_SESSION_LIFETIME_MS / 1000 });
    deleteCookie(c, NEXT_COOKIE, { path: "/" });
    return c.redirect(next, 303);
  });
  app.post("/sign-out", async (c) => {
    await readOwnForm(c, parts);
    const secret = getCookie(c, sessionCookie(parts));
    if (secret !== undefined) await parts.sessions.end(secret);
    deleteCookie(c, sessionCookie(parts), cookieRules(parts));
    return sendPage(c, { title: "Signed out", body: signedOutBody() });
  });
}

function addApprovalRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/pair/:token", async (c) => {
    const sessionToken = c.req.param("token");
    const owner = await findSession(c, parts);
    if (owner === undefined) {
      const path = `/pair/${sessionToken}`;
      if (NEXT_PAGE.test(path)) {
        setCookie(c, NEXT_COOKIE, path, { ...cookieRules(parts), maxAge: PAIRING_LIFETIME_MS / 1000 });
      }
      const body = notSignedInBody({ comesBack: true });
      return sendPage(c, { title: "Sign in", body, status: 401 });
    }
    const { csrfToken } = owner;
    const session = await parts.pairing.find(sessionToken);
    if (session === undefined) {
      return sendPage(c, { title: "Unknown request", body: unknownSessionBody(), csrfToken, status: 404 });
    }
    if (session.status !== "awaiting_approval") {
      const status = session.status === "expired" ? 410 : 200;
      return sendPage(c, { title: "Device pairing", body: decidedBody(session), csrfToken, status });
    }
    const apps = await listApps(parts);
    const body = approvalBody({ session, sessionToken, csrfToken, apps, now: parts.now() });
    return sendPage(c, { title: "Approve a device", body, csrfToken });
  });
  app.post("/pair/:token", async (c) => {
    const { owner, form } = await readOwnForm(c, parts);
    const decision = form.get("decision");
    if (decision !== "approve" && decision !== "decline") {
      throw new ServiceError(
        400,
        "no_decision",
        "The form did not say whether to approve or decline. Go back and choose.",
      );
    }
    const sessionToken = c.req.param("token");
    // When somebody else was faster, the page that follows tells how the session ended.
    await parts.pairing.decide(sessionToken, owner.accountId, decision);
    return c.redirect(`/pair/${encodeURIComponent(sessionToken)}`, 303);
  });
}

function addHomeRoutes(app: OpenAPIHono<RouteEnv>, parts: ServiceParts): void {
  app.get("/", async (c) => {
    const owner = await findSession(c, parts);
    if (owner === undefined) {
      return sendPage(c, { title: "Sign in", body: notSignedInBody({ comesBack: false }), status: 401 });
    }
    const body = homeBody({
      devices: await parts.keys.list(owner.accountId),
      connections: (await parts.connections.list()).map((connection) => ({
        connection,
        app: nameApp(parts, connection.integration),
      })),
      csrfToken: owner.csrfToken,
      now: parts.now(),
      notice: c.req.query("notice") === "revoked" ? "The device was revoked. Its key no longer works." : undefined,
    });
    return sendPage(c, { title: "Home", body, csrfToken: owner.csrfToken });
  });
  app.post("/devices/:id/revoke", async (c) => {
    const { owner } = await readOwnForm(c, parts);
    const isRevoked = await parts.keys.revoke(owner.accountId, c.req.param("id"));
    if (!isRevoked) throw new ServiceError(404, "unknown_device", "There is no such device, or it is revoked already.");
    return c.redirect("/?notice=revoked", 303);
  });
}

/** The signed-in owner and the fields of a form that one of our own pages sent. */
async function readOwnForm(c: Request, parts: ServiceParts): Promise<{ owner: OwnerSession; form: URLSearchParams }> {
  const owner = await findSession(c, parts);
  if (owner === undefined) {
    throw new ServiceError(403, "not_signed_in", "You are not signed in. Run `svc login-link` and open the link.");
  }
  const form = new URLSearchParams((await readBytes(c.req.raw, FORM_LIMIT)).toString("utf8"));
  if (!isSameHash(form.get("csrf") ?? "", owner.csrfToken)) {
    throw new ServiceError(
      403,
      "foreign_form",
      "This form did not come from this page. Reload the page and try again.",
    );
  }
  return { owner, form };
}

function findSession(c: Request, parts: ServiceParts): Promise<OwnerSession | undefined> {
  return parts.sessions.find(getCookie(c, sessionCookie(parts)));
}

function isSecure(parts: ServiceParts): boolean {
  return parts.baseUrl.startsWith("https:");
}

function sessionCookie(parts: ServiceParts): string {
  return isSecure(parts) ? "__Host-svc_session" : "svc_session";
}

/** Lax, not Strict: the cookie must arrive when a link from a chat or a terminal is opened. */
function cookieRules(parts: ServiceParts) {
  return { path: "/", httpOnly: true, sameSite: "Lax", secure: isSecure(parts) } as const;
}

async function listApps(parts: ServiceParts): Promise<string[]> {
  const connected = await parts.connections.list();
  return [...new Set(connected.map((connection) => nameApp(parts, connection.integration)))];
}

function nameApp(parts: ServiceParts, slug: string): string {
  return parts.catalog.integrations.find((integration) => integration.slug === slug)?.name ?? slug;
}
