import type { Context, Hono } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import { parseJson } from "../../../shared/base/json.ts";
import { OWNER_SESSION_LIFETIME_MS, type SigningBrowser } from "../../auth/open-session.ts";
import { CHALLENGE_LIFETIME_MS } from "../../auth/passkeys/challenges.ts";
import type { Person } from "../../auth/people.ts";
import { createSecret } from "../../auth/secrets.ts";
import type { Role } from "../../store/schema.ts";
import { logChange } from "../audit.ts";
import { readCallerAddress } from "../caller-address.ts";
import {
  cookieRules,
  findOwner,
  findSessionPath,
  isReturnPage,
  markStranger,
  NEXT_COOKIE,
  type OwnForm,
  ownerPages,
  readForm,
  sessionCookie,
} from "../owner-browser.ts";
import { findPasskeySite } from "../passkey-site.ts";
import type { RouteEnv } from "../request.ts";
import type { ServiceParts } from "../service-parts.ts";
import { readSessionPath } from "../session-path.ts";
import { FIELDS } from "../whole-answer.ts";
import { type Markup, messageBody, sendPage } from "./page.ts";
import { requireSite } from "./passkeys.ts";
import { findWaysIn } from "./ways-in.ts";

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
    return token === "" ? sendWaysIn(c, parts) : sendDeadLink(c, parts);
  });
  app.post("/sign-in", async (c) => {
    const form = await readForm(c);
    const token = form.get("token") ?? "";
    const person = await parts.sessions.findInvited(token);
    const signing = describeSigning(c, parts);
    const secret = await parts.sessions.signIn(token, signing);
    if (secret === undefined || person === undefined) return sendDeadLink(c, parts);
    logChange(parts.log, person, { event: "person.signed_in", did: "signed in by a link", address: signing.address });
    return enter(c, parts, { secret, next: form.get("next") ?? undefined });
  });
  addPasskeySignIn(app, parts);
  const signOut = async (c: Context<RouteEnv>, { audit }: OwnForm) => {
    audit({ event: "person.signed_out", did: "signed out" });
    const secret = getCookie(c, sessionCookie(parts));
    if (secret !== undefined) await parts.sessions.end(secret);
    const path = readSessionPath(c.req.url);
    deleteCookie(c, sessionCookie(parts), { ...cookieRules(parts), path: path || "/" });
    const { ways, usesPasskeys } = await findWaysIn(c, parts);
    const body = messageBody({ heading: "Signed out", text: "This browser is no longer signed in.", next: ways });
    return sendPage(c, { title: "Signed out", body, usesPasskeys, session: markStranger(c, parts) });
  };
  ownerPages(app, parts, "approver").addForm("/sign-out", signOut);
}

/** Sign-in with a passkey: the script of the page fetches a challenge, and sends the answer of the browser. */
function addPasskeySignIn(app: Hono<RouteEnv>, parts: ServiceParts): void {
  const name = challengeCookie(parts);
  const rules = { ...cookieRules(parts), sameSite: "Strict" } as const;
  app.post("/sign-in/passkey/start", async (c) => {
    const site = requireSite(findPasskeySite(c, parts));
    const browser = createSecret();
    setCookie(c, name, browser, { ...rules, maxAge: CHALLENGE_LIFETIME_MS / 1000 });
    return c.json(await parts.passkeys.beginSignIn(site, browser), 200, FIELDS);
  });
  app.post("/sign-in/passkey", async (c) => {
    const site = requireSite(findPasskeySite(c, parts));
    const answer = parseJson((await readForm(c)).get("answer") ?? "");
    const signing = describeSigning(c, parts);
    const signedIn = await parts.passkeys.signIn(site, { answer, browser: getCookie(c, name) ?? "", signing });
    deleteCookie(c, name, rules);
    if (signedIn === undefined) return sendRefusal(c, parts);
    const { secret, person, passkey } = signedIn;
    const did = "signed in with the passkey";
    logChange(parts.log, person, { event: "person.signed_in", did, name: passkey, address: signing.address });
    return enter(c, parts, { secret, next: undefined });
  });
}

/** Name of the cookie that binds a challenge to its browser. */
const challengeCookie = (parts: ServiceParts) => sessionCookie(parts).replace("session", "passkey");

function describeSigning(c: Context<RouteEnv>, parts: ServiceParts): SigningBrowser {
  return {
    userAgent: c.req.header("user-agent"),
    address: readCallerAddress(c.env.incoming, parts.trustedProxies),
  };
}

/** Lets the browser of a new session in, to the page that it came for. */
function enter(
  c: Context<RouteEnv>,
  parts: ServiceParts,
  { secret, next }: { secret: string; next: string | undefined },
): Response {
  const path = findSessionPath(parts, secret);
  const maxAge = OWNER_SESSION_LIFETIME_MS / 1000;
  setCookie(c, sessionCookie(parts), secret, { ...cookieRules(parts), path: path || "/", maxAge });
  deleteCookie(c, NEXT_COOKIE, { path: "/" });
  return c.redirect(`${path}${findNext(c, next)}`, 303);
}

/** The answer of the browser did not fit, came late, or is of a passkey that was removed. */
async function sendRefusal(c: Context<RouteEnv>, parts: ServiceParts): Promise<Response> {
  const { ways, usesPasskeys } = await findWaysIn(c, parts);
  const body = messageBody({
    heading: "This passkey did not sign you in",
    text: "It was removed, or the answer came after more than five minutes. Try again, or use a link.",
    next: ways,
  });
  return sendPage(c, { title: "Not signed in", body, usesPasskeys, status: 401, session: markStranger(c, parts) });
}

/** The page named by the link, else the page requested before sign-in, else the home page. */
function findNext(c: Context<RouteEnv>, named: string | undefined): string {
  return [named, getCookie(c, NEXT_COOKIE)].find(isReturnPage) ?? "/";
}

/** The one-time link was used, has expired, or never existed. */
async function sendDeadLink(c: Context<RouteEnv>, parts: ServiceParts): Promise<Response> {
  const { ways, usesPasskeys } = await findWaysIn(c, parts);
  const body = messageBody({
    heading: "This sign-in link no longer works",
    text: "A link works once and for 10 minutes, an invitation for a day. You need a new one.",
    next: ways,
  });
  const page = { title: "Link no longer works", body, usesPasskeys, session: markStranger(c, parts) };
  return sendPage(c, { ...page, status: 410 });
}

/** Asked for without a link. */
async function sendWaysIn(c: Context<RouteEnv>, parts: ServiceParts): Promise<Response> {
  const { ways, usesPasskeys } = await findWaysIn(c, parts);
  const body = messageBody({ heading: "Sign in", text: "This dashboard is for people of this service.", next: ways });
  return sendPage(c, { title: "Sign in", body, usesPasskeys, session: markStranger(c, parts) });
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
