import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import type { Person } from "../../auth/people.ts";
import { OWNER_SESSION_LIFETIME_MS } from "../../auth/sign-in-links.ts";
import type { Role } from "../../store/schema.ts";
import { logChange } from "../audit.ts";
import {
  cookieRules,
  findOwner,
  findSessionPath,
  HOW_TO_SIGN_IN,
  isReturnPage,
  markStranger,
  NEXT_COOKIE,
  type OwnForm,
  ownerPages,
  readForm,
  sessionCookie,
} from "../owner-browser.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath } from "../session-path.ts";
import { type Markup, messageBody, sendPage } from "./page.ts";

/** Sign-in by a one-time link, and sign-out. */
export function addSignInPages(app: Hono<RouteEnv>, parts: ServiceParts): void {
  // Opening the link changes nothing: messengers and mail programs open links for a preview.
  app.get("/sign-in", async (c) => {
    const token = c.req.query("token") ?? "";
    const next = c.req.query("next");
    const person = await parts.sessions.findInvited(token);
    if (person !== undefined) {
      const body = signInBody({ person, token, next: isReturnPage(next) ? next : undefined });
      return sendPage(c, { title: "Sign in", body });
    }
    if ((await findOwner(c, parts)) !== undefined) return c.redirect(findNext(c, next), 303);
    return sendDeadLink(c, parts);
  });
  app.post("/sign-in", async (c) => {
    const form = await readForm(c);
    const token = form.get("token") ?? "";
    const person = await parts.sessions.findInvited(token);
    const secret = await parts.sessions.signIn(token, c.req.header("user-agent"));
    if (secret === undefined || person === undefined) return sendDeadLink(c, parts);
    logChange(parts.log, person, { event: "person.signed_in", did: "signed in by a link" });
    const path = findSessionPath(parts, secret);
    const maxAge = OWNER_SESSION_LIFETIME_MS / 1000;
    setCookie(c, sessionCookie(parts), secret, { ...cookieRules(parts), path: path || "/", maxAge });
    deleteCookie(c, NEXT_COOKIE, { path: "/" });
    return c.redirect(`${path}${findNext(c, form.get("next") ?? undefined)}`, 303);
  });
  const signOut = async (c: Context<RouteEnv>, { audit }: OwnForm) => {
    audit({ event: "person.signed_out", did: "signed out" });
    const secret = getCookie(c, sessionCookie(parts));
    if (secret !== undefined) await parts.sessions.end(secret);
    const path = readSessionPath(c.req.url);
    deleteCookie(c, sessionCookie(parts), { ...cookieRules(parts), path: path || "/" });
    const body = messageBody({
      heading: "Signed out",
      text: "This browser is no longer signed in.",
      next: HOW_TO_SIGN_IN,
    });
    return sendPage(c, { title: "Signed out", body, session: markStranger(c, parts) });
  };
  ownerPages(app, parts, "approver").addForm("/sign-out", signOut);
}

/** The page named by the link, else the page requested before sign-in, else the home page. */
function findNext(c: Context<RouteEnv>, named: string | undefined): string {
  return [named, getCookie(c, NEXT_COOKIE)].find(isReturnPage) ?? "/";
}

/** The one-time link was used, has expired, or never existed. */
function sendDeadLink(c: Context<RouteEnv>, parts: ServiceParts): Promise<Response> {
  const body = messageBody({
    heading: "This sign-in link no longer works",
    text: "A link works once and for 10 minutes, an invitation for a day. You need a new one.",
    next: HOW_TO_SIGN_IN,
  });
  return sendPage(c, { title: "Link no longer works", body, status: 410, session: markStranger(c, parts) });
}

const MAY: Readonly<Record<Role, string>> = {
  owner: "approve calls and devices, connect apps, invite people and see what agents did",
  approver: "approve calls of agents and see what they did",
};

function signInBody({ person, token, next }: { person: Person; token: string; next: string | undefined }): Markup {
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">Sign in as ${person.name}?</h1>
<p>This browser can then ${MAY[person.role]}. It stays signed in for 7 days, or until you sign out.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="token" value="${token}">
${next === undefined ? "" : html`<input type="hidden" name="next" value="${next}">`}
<div class="actions"><button class="primary">Sign in</button></div>
</form>
</section>`;
}
