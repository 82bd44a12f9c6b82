import type { Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { OWNER_SESSION_LIFETIME_MS } from "../../auth/owner-sessions.ts";
import { deadLinkBody, signedOutBody } from "../../pages/sign-in-page.ts";
import type { RouteEnv } from "../guard.ts";
import { cookieRules, findOwner, isReturnPage, NEXT_COOKIE, readOwnForm, sessionCookie } from "../owner-browser.ts";
import { sendPage } from "../send-page.ts";
import type { ServiceParts } from "../service-parts.ts";

/** Sign-in by a one-time link, and sign-out. */
export function addSignInPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  app.get("/sign-in", async (c) => {
    // A preview or prefetch of the link must not spend it.
    if (c.req.method === "HEAD" || c.req.header("sec-purpose")?.includes("prefetch")) return c.body(null, 204);
    const next = [c.req.query("next"), getCookie(c, NEXT_COOKIE)].find(isReturnPage) ?? "/";
    const secret = await parts.sessions.signIn(c.req.query("token") ?? "");
    if (secret === undefined) {
      if ((await findOwner(c, parts)) !== undefined) return c.redirect(next, 303);
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
