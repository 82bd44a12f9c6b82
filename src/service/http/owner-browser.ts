import type { Context, Hono } from "hono";
import { getCookie, setCookie } from "hono/cookie";
import { html } from "hono/html";
import type { OwnerSession } from "../auth/owner-sessions.ts";
import { mayDo } from "../auth/people.ts";
import { isSameHash } from "../auth/secrets.ts";
import { ServiceError } from "../service-error.ts";
import type { Role } from "../store/schema.ts";
import { type Change, logChange } from "./audit.ts";
import { type Markup, messageBody, type Page, sendPage } from "./pages/page.ts";
import { findWaysIn } from "./pages/ways-in.ts";
import { type RouteEnv, readBytes } from "./request.ts";
import type { ServiceParts } from "./service-parts.ts";
import { readSessionPath, type SessionMark, toSessionPath } from "./session-path.ts";

type Request = Context<RouteEnv>;

const FORM_LIMIT = 16 * 1024;
/** Of an owner's form: one may choose a level for each of some thousand actions. */
const OWN_FORM_LIMIT = 256 * 1024;
/** Seconds for which the requested page is remembered during sign-in. */
const RETURN_SECONDS = 15 * 60;

/** Remembers the page a human came for before signing in. */
export const NEXT_COOKIE = "svc_next";

/** Pages that people are sent to, and that a sign-in may therefore lead back to. */
const RETURN_PAGES: readonly RegExp[] = [
  /^\/pair\/[A-Za-z0-9_-]{20,64}$/,
  /^\/install\/[A-Za-z0-9_-]{20,64}$/,
  /^\/connect\/[a-z0-9_-]{1,64}$/,
  /^\/connections\/[a-z0-9_]{1,40}\/reconnect$/,
  /^\/apps\/[a-z0-9-]{1,31}\/review$/,
  /^\/inbox(\/[A-Za-z0-9_-]{1,64})?$/,
  /^\/flows\/[A-Za-z0-9_-]{1,64}$/,
  /^\/oauth\/approve\/[A-Za-z0-9_-]{20,64}$/,
];

/** True for the pages a sign-in may lead back to; anything else leads home. */
export function isReturnPage(path: string | undefined): path is string {
  return path !== undefined && RETURN_PAGES.some((page) => page.test(path));
}

/** The signed-in person of this browser, on the pages of its session; an API key is never one. */
export async function findOwner(c: Request, parts: ServiceParts): Promise<OwnerSession | undefined> {
  const secret = getCookie(c, sessionCookie(parts));
  if (secret === undefined || readSessionPath(c.req.url) !== findSessionPath(parts, secret)) return undefined;
  return parts.sessions.find(secret);
}

/** A form with the signed-in person who sent it, owner or approver. */
export interface OwnForm {
  readonly owner: OwnerSession;
  readonly form: URLSearchParams;
  /** Tells the operator that this person made a change. */
  audit(change: Change): void;
}

/**
 * Opens a part of an app for signed-in people: its pages carry the CSRF token of the browser, and its forms bring it
 * back.
 *
 * @param least role that every page and form of this part takes at least; others are refused with 403.
 */
export function ownerPages(app: Hono<RouteEnv>, parts: ServiceParts, least: Role = "owner") {
  const answer = (c: Request, { csrfToken, person }: OwnerSession, shown: Page | Response | string) => {
    if (typeof shown === "string") return c.redirect(shown, 303);
    return shown instanceof Response ? shown : sendPage(c, { csrfToken, person, ...shown });
  };
  return {
    /** A page that only signed-in people may see; a stranger is asked to sign in. */
    addPage<Path extends string>(
      path: Path,
      show: (c: Context<RouteEnv, Path>, owner: OwnerSession) => Promise<Page | Response>,
    ): void {
      app.get(path, async (c) => {
        const owner = await findOwner(c, parts);
        if (owner === undefined) return askToSignIn(c, parts);
        requireRole(owner, least);
        return answer(c, owner, await show(c, owner));
      });
    },
    /** A form that one of our own pages sent; a path that it answers with is where the browser goes next. */
    addForm<Path extends string>(
      path: Path,
      take: (c: Context<RouteEnv, Path>, sent: OwnForm) => Promise<Page | Response | string>,
    ): void {
      app.post(path, async (c) => {
        const { owner, form } = await readOwnForm(c, parts, least);
        const audit = (change: Change) => logChange(parts.log, owner.person, change);
        return answer(c, owner, await take(c, { owner, form, audit }));
      });
    },
  };
}

/** Prefix of the pages of a session; empty over https, where no other port gets the cookie. */
export function findSessionPath(parts: ServiceParts, sessionSecret: string): string {
  return isSecure(parts) ? "" : toSessionPath(sessionSecret);
}

/** The fields of a form. */
export async function readForm(c: Request, limit = FORM_LIMIT): Promise<URLSearchParams> {
  return new URLSearchParams((await readBytes(c.env, { limit })).toString("utf8"));
}

function requireRole({ person }: OwnerSession, least: Role): void {
  if (!mayDo(person.role, least)) throw onlyOwner();
}

/** The refusal of an approver. */
function onlyOwner(): ServiceError {
  const message =
    "Only an owner of this service may do this. You may decide what waits in the inbox, and read the log.";
  return new ServiceError(403, "owner_only", message);
}

/** The signed-in person and the fields of a form that one of our own pages sent; throws ServiceError 403 otherwise. */
async function readOwnForm(c: Request, parts: ServiceParts, least: Role): Promise<Omit<OwnForm, "audit">> {
  const owner = await findOwner(c, parts);
  if (owner === undefined) {
    throw new ServiceError(403, "not_signed_in", "You are not signed in. Open a sign-in link first.");
  }
  requireRole(owner, least);
  const form = await readForm(c, OWN_FORM_LIMIT);
  if (!isSameHash(form.get("csrf") ?? "", owner.csrfToken)) {
    const message = "This form did not come from this page. Reload the page and try again.";
    throw new ServiceError(403, "foreign_form", message);
  }
  return { owner, form };
}

/**
 * Asks a stranger to sign in first, and leads back to this page when it is one that people are sent to. A browser that is
 * signed in at its session path goes there by itself.
 */
async function askToSignIn(c: Request, parts: ServiceParts): Promise<Response> {
  const comesBack = isReturnPage(c.req.path);
  if (comesBack) setCookie(c, NEXT_COOKIE, c.req.path, { ...cookieRules(parts), maxAge: RETURN_SECONDS });
  const link = isSecure(parts) ? undefined : `${parts.baseUrl}${c.req.path}${new URL(c.req.url).search}`;
  const { ways, usesPasskeys } = await findWaysIn(c, parts);
  const body = notSignedInBody({ comesBack, link, ways });
  return sendPage(c, { title: "Sign in", body, usesPasskeys, session: markStranger(c, parts), status: 401 });
}

/** The mark of a page for strangers, for `SESSION_SCRIPT`. */
export function markStranger(c: Request, parts: ServiceParts): SessionMark | undefined {
  if (isSecure(parts)) return undefined;
  return readSessionPath(c.req.url) === "" ? "elsewhere" : "ended";
}

/** Name of the session cookie. */
export function sessionCookie(parts: ServiceParts): string {
  return isSecure(parts) ? "__Host-svc_session" : "svc_session";
}

/** Lax, not Strict: the cookie must arrive when a link from a chat or a terminal is opened. */
export function cookieRules(parts: ServiceParts) {
  return { path: "/", httpOnly: true, sameSite: "Lax", secure: isSecure(parts) } as const;
}

function isSecure(parts: ServiceParts): boolean {
  return parts.baseUrl.startsWith("https:");
}

/** The decision of an approval form; throws ServiceError 400 when the form has none. */
export function readDecision(form: URLSearchParams): "approve" | "decline" {
  const decision = form.get("decision");
  if (decision === "approve" || decision === "decline") return decision;
  throw new ServiceError(400, "no_decision", "The form did not say whether to approve or decline. Go back and choose.");
}

/**
 * Asked for a page that only signed-in people may see. `comesBack` is true when sign-in leads back to it; `link` is its address
 * where a signed-in browser gets there by a script, for those that run none.
 */
function notSignedInBody({
  comesBack,
  link,
  ways,
}: {
  comesBack: boolean;
  link: string | undefined;
  ways: Markup;
}): Markup {
  return messageBody({
    heading: "Sign in first",
    text: comesBack
      ? "Only people of this service can decide here. After signing in you come back to this page."
      : "This page is for people of this service.",
    next: html`${ways}
${
  link === undefined
    ? ""
    : html`<details><summary>This browser is signed in already</summary>
<p>It got here without a script that finds the way. Copy this link and paste it on the home page of your dashboard, at “Open a link”:</p>
<pre tabindex="0"><code>${link}</code></pre></details>`
}`,
  });
}
