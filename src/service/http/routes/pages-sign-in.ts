import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { OWNER_SESSION_LIFETIME_MS } from "../../auth/owner-sessions.ts";
import type { RouteEnv } from "../guard.ts";
import {
  cookieRules,
  findOwner,
  findSessionPath,
  isReturnPage,
  markStranger,
  NEXT_COOKIE,
  readForm,
  readOwnForm,
  sessionCookie,
} from "../owner-browser.ts";
import { sendPage } from "../pages/page.ts";
import { deadLinkBody, signedOutBody, signInBody } from "../pages/sign-in-page.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath } from "../session-path.ts";

/** Sign-in by a one-time link, and sign-out. */
export function addSignInPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  // Opening the link changes nothing: messengers and mail programs open links for a preview.
  app.get("/sign-in", async (c) => {
    const token = c.req.query("token") ?? "";
    const next = c.req.query("next");
    if (await parts.sessions.isOpen(token)) {
      return sendPage(c, {
        title: "Sign in",
        body: signInBody({ token, next: isReturnPage(next) ? next : undefined }),
      });
    }
    if ((await findOwner(c, parts)) !== undefined) return c.redirect(findNext(c, next), 303);
    return sendDeadLink(c, parts);
  });
  app.post("/sign-in", async (c) => {
    const form = await readForm(c);
    const secret = await parts.sessions.signIn(form.get("token") ?? "");
    if (secret === undefined) return sendDeadLink(c, parts);
    const path = findSessionPath(parts, secret);
    const maxAge = OWNER_SESSION_LIFETIME_MS / 1000;
    setCookie(c, sessionCookie(parts), secret, { ...cookieRules(parts), path: path || "/", maxAge });
    deleteCookie(c, NEXT_COOKIE, { path: "/" });
    return c.redirect(`${path}${findNext(c, form.get("next") ?? undefined)}`, 303);
  });
  app.post("/sign-out", async (c) => {
    await readOwnForm(c, parts);
    const secret = getCookie(c, sessionCookie(parts));
    if (secret !== undefined) await parts.sessions.end(secret);
    const path = readSessionPath(c.req.url);
    deleteCookie(c, sessionCookie(parts), { ...cookieRules(parts), path: path || "/" });
    return sendPage(c, { title: "Signed out", body: signedOutBody(), session: markStranger(c, parts) });
  });
}

/** The page that the link names, else the one that was asked for before, else the home page. */
function findNext(c: Context<RouteEnv>, named: string | undefined): string {
  return [named, getCookie(c, NEXT_COOKIE)].find(isReturnPage) ?? "/";
}

function sendDeadLink(c: Context<RouteEnv>, parts: ServiceParts): Promise<Response> {
  const page = { title: "Link no longer works", body: deadLinkBody(), status: 410 } as const;
  return sendPage(c, { ...page, session: markStranger(c, parts) });
}
