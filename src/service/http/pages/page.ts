import type { Context } from "hono";
import { html, raw } from "hono/html";
import { mayDo, type Person } from "../../auth/people.ts";
import type { ServiceError } from "../../service-error.ts";
import type { ApprovalMode, Role } from "../../store/schema.ts";
import type { RouteEnv } from "../request.ts";
import { readSessionPath, SESSION_SCRIPT, SESSION_SCRIPT_SOURCE, type SessionMark } from "../session-path.ts";
import { LIVE_SCRIPT, LIVE_SCRIPT_SOURCE } from "./live.ts";
import { LOCAL_TIMES_SCRIPT, LOCAL_TIMES_SOURCE } from "./local-times.ts";
import { PASSKEY_SCRIPT, PASSKEY_SCRIPT_SOURCE } from "./passkey-script.ts";
import { PAGE_HEADERS, STYLE } from "./style.ts";

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** The parts of the dashboard, as the navigation shows them. */
const SECTIONS = {
  home: { path: "/", name: "Home", least: "approver" },
  inbox: { path: "/inbox", name: "Inbox", least: "approver" },
  devices: { path: "/devices", name: "Devices", least: "owner" },
  connections: { path: "/connections", name: "Connections", least: "owner" },
  rules: { path: "/rules", name: "Rules", least: "owner" },
  flows: { path: "/flows", name: "Flows", least: "owner" },
  people: { path: "/people", name: "People", least: "owner" },
  log: { path: "/log", name: "Log", least: "approver" },
} as const;

/** A part of the dashboard; the page of the person themselves is behind their name. */
type Section = keyof typeof SECTIONS | "sessions";

/** One page. */
export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Shows the sign-out button; the CSRF token of the signed-in browser. */
  readonly csrfToken?: string | undefined;
  /** The signed-in person: the header names them, and the navigation shows the pages that they may open. */
  readonly person?: Person;
  /** Shows the navigation, with this part marked. Pages that ask for one decision have none. */
  readonly section?: Section | undefined;
  /** Adds the script that knows the session path. Default: none. */
  readonly session?: SessionMark | undefined;
  /** Default 200. */
  readonly status?: PageStatus;
  /** Seconds between two looks for changes, see `LIVE_SCRIPT`. Default: never. */
  readonly refreshSeconds?: number;
  /** Adds the script that makes and uses passkeys. Default false. */
  readonly usesPasskeys?: boolean;
  /** Lets the page load pictures of this service. Default false. */
  readonly showsPictures?: boolean;
}

/** A page with what follows from its content. */
type DrawnPage = Omit<Page, "status"> & { readonly hasTimes?: boolean };

async function renderPage(page: DrawnPage): Promise<string> {
  const { title, body, csrfToken, person, section, session, refreshSeconds: refresh } = page;
  const scripts = listScripts(page).map(({ script }) => html`<script>${raw(script)}</script>`);
  return String(
    await html`<!doctype html>
<html lang="en"${session === undefined ? "" : html` data-session="${session}"`}${refresh === undefined ? "" : html` data-refresh="${refresh}"`}>
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · svc</title>
<style>${raw(STYLE)}</style>${scripts}
</head>
<body${section === undefined ? "" : html` class="wide"`}>
${section === undefined ? "" : html`<a class="skip" href="#content">Skip to content</a>`}
<header><a class="brand" href="/">svc</a>${section === undefined ? "" : navigation(section, person?.role ?? "owner")}${person === undefined ? "" : html`<a class="me" href="/sessions"${section === "sessions" ? html` aria-current="page"` : ""}>${person.name}</a>`}${csrfToken === undefined ? "" : signOutForm(csrfToken)}</header>
<main id="content" tabindex="-1">${body}</main>
<footer>This page comes from your own svc service and loads nothing from elsewhere.</footer>
</body>
</html>`,
  );
}

/** A page with one message and the next step. */
export function messageBody(o: { heading: string; text: string; next?: Markup }): Markup {
  return html`<section class="card">
<div role="status"><h1>${o.heading}</h1>
<p>${o.text}</p></div>
${o.next ?? html`<p><a href="/">Go to the home page</a></p>`}
</section>`;
}

/** The hidden field that every form of a signed-in browser carries. */
export function csrfField(csrfToken: string): Markup {
  return html`<input type="hidden" name="csrf" value="${csrfToken}">`;
}

/** The notice of the previous step, carried by a redirect; nothing when there is none. */
export function noticeLine(text: string | undefined): Markup {
  return text === undefined ? html`` : html`<p class="notice" role="status">${text}</p>`;
}

function navigation(section: Section, role: Role): Markup {
  const open = Object.entries(SECTIONS).filter(([, { least }]) => mayDo(role, least));
  const entries = open.map(
    ([key, { path, name }]) =>
      html`<li><a href="${path}"${key === section ? html` aria-current="page"` : ""}>${name}</a></li>`,
  );
  return html`<nav aria-label="Main"><ul>${entries}</ul></nav>`;
}

function signOutForm(csrfToken: string): Markup {
  return html`<form method="post" action="/sign-out">${csrfField(csrfToken)}<button class="quiet">Sign out</button></form>`;
}

/**
 * Answers with a page and the full set of page headers. Links, forms and pictures, which pages write as
 * paths of the service, stay below the session path of the browser.
 */
export async function sendPage(c: Context<RouteEnv>, { status = 200, ...page }: Page): Promise<Response> {
  const sessionPath = readSessionPath(c.req.url);
  const mark = page.session ?? (sessionPath !== "" && page.csrfToken !== undefined ? "open" : undefined);
  const drawn = { ...page, session: mark, hasTimes: / data-(?:local|zone)/.test(String(await page.body)) };
  const text = await renderPage(drawn);
  return c.body(text.replaceAll(/ (href|action|src)="(?=\/)/g, `$&${sessionPath}`), status, {
    ...PAGE_HEADERS,
    "content-security-policy": makePolicy(drawn),
  });
}

/** The scripts of a page, each with the source expression that lets it run. */
function listScripts({ session, refreshSeconds, usesPasskeys = false, hasTimes = false }: DrawnPage) {
  const isLive = refreshSeconds !== undefined;
  const all = [
    { isUsed: session !== undefined, script: SESSION_SCRIPT, source: SESSION_SCRIPT_SOURCE },
    { isUsed: isLive, script: LIVE_SCRIPT, source: LIVE_SCRIPT_SOURCE },
    // A live page may get times later.
    { isUsed: hasTimes || isLive, script: LOCAL_TIMES_SCRIPT, source: LOCAL_TIMES_SOURCE },
    { isUsed: usesPasskeys, script: PASSKEY_SCRIPT, source: PASSKEY_SCRIPT_SOURCE },
  ];
  return all.filter(({ isUsed }) => isUsed);
}

function makePolicy(page: DrawnPage): string {
  const { refreshSeconds, usesPasskeys = false, showsPictures = false } = page;
  const sources = listScripts(page).map(({ source }) => source);
  return [
    PAGE_HEADERS["content-security-policy"],
    ...(sources.length === 0 ? [] : [`script-src ${sources.join(" ")}`]),
    ...(refreshSeconds !== undefined || usesPasskeys ? ["connect-src 'self'"] : []),
    ...(showsPictures ? ["img-src 'self'"] : []),
  ].join("; ");
}

/** The page of a request that was refused, with its headers, for an answer that is not written here. */
export async function renderRefusal(error: ServiceError) {
  return { text: await renderPage({ title: "Refused", body: refusedBody(error) }), headers: PAGE_HEADERS };
}

/** Statuses of pages. */
export type PageStatus = 200 | 400 | 401 | 403 | 404 | 405 | 409 | 410 | 413 | 500;

/** A page request that was refused. */
export function refusedBody(error: ServiceError): Markup {
  const headings: Readonly<Record<number, string>> = { 404: "There is no such page", 403: "This was refused" };
  return messageBody({ heading: headings[error.status] ?? "This did not work", text: error.message });
}

/** The page on which the owner decides about one request for access. */
export interface RequestCard {
  readonly heading: string;
  readonly intro: string;
  /** A code that is also shown at `place`, to compare. */
  readonly code?: { readonly place: string; readonly value: string };
  readonly facts: readonly (readonly [name: string, value: string | Markup])[];
  readonly rightsHeading: string;
  readonly rights: readonly string[];
  readonly footnote: string;
  /** Where the form is posted; the field `decision` says `approve` or `decline`. */
  readonly action: string;
  readonly csrfToken: string;
  readonly approveLabel: string;
  /** Preset of the choice who approves its calls; undefined where the service leaves no choice: then the owner does. */
  readonly approvals: ApprovalMode | undefined;
  /** The choice of its limits. */
  readonly limits: Markup;
}

/** Renders the request with its two buttons. */
export function requestCard({ code, ...card }: RequestCard): Markup {
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">${card.heading}</h1>
<p>${card.intro}</p>
${code === undefined ? "" : html`<div class="code"><p>Must match the code ${code.place}</p><strong>${code.value}</strong></div>`}
<dl>${card.facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`)}</dl>
<h2>${card.rightsHeading}</h2>
<ul>${card.rights.map((right) => html`<li>${right}</li>`)}</ul>
<p class="muted">${card.footnote}</p>
<form method="post" action="${card.action}">
${csrfField(card.csrfToken)}
${card.limits}
${card.approvals === undefined ? "" : approvalsChoice(card.approvals)}
<div class="actions">
<button class="primary" name="decision" value="approve">${card.approveLabel}</button>
<button class="secondary" name="decision" value="decline">Decline</button>
</div>
</form>
</section>`;
}

/** The choice who approves the calls of a key or app; its field is `approvals`. */
export function approvalsChoice(chosen: ApprovalMode): Markup {
  const option = (mode: ApprovalMode, text: string, help: string) =>
    html`<div class="choice"><input type="radio" id="approvals-${mode}" name="approvals" value="${mode}"${mode === chosen ? html` checked` : ""}><label for="approvals-${mode}">${text} <span class="help">${help}</span></label></div>`;
  return html`<fieldset><legend>Calls that change something</legend>
${option("owner", "I approve each call in the inbox.", "Choose this for an app whose model could confirm by itself.")}
${option("device", "It asks a person itself.", "A call that says so runs at once. At /api/mcp nothing that a model says counts: a form of the app is answered there, or the call waits in the inbox.")}
</fieldset>`;
}

/** The chosen approver; `preset` when the form does not say. */
export function readApprovals(form: URLSearchParams, preset: ApprovalMode): ApprovalMode {
  const chosen = form.get("approvals");
  return chosen === "owner" || chosen === "device" ? chosen : preset;
}

/**
 * The rights that an approval gives.
 *
 * @param o.apps names of connected apps
 * @param o.others all that only the owner approves
 * @param o.mayChoose false where every change waits in the inbox
 * @param o.levels effects that were asked for; all by default
 */
export function listRights(o: {
  apps: readonly string[];
  others?: string;
  mayChoose: boolean;
  levels?: readonly string[] | undefined;
}): string[] {
  const { apps, others = "devices", levels } = o;
  const change = o.mayChoose
    ? "Change things there after an approval, as you choose below."
    : "Change things there only after you approved the call in the inbox.";
  return [
    `Read from your connected apps (${apps.length === 0 ? "none yet" : apps.join(", ")}), as far as you let it below, without asking you each time.`,
    levels?.every((level) => level === "read") ? "It asked to change nothing there." : change,
    `It cannot approve ${others}, sign in here or change your connections.`,
  ];
}
