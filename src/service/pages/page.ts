import { html, raw } from "hono/html";
import { STYLE } from "./style.ts";

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** The parts of the dashboard, as the navigation shows them. */
const SECTIONS = {
  home: { path: "/", name: "Home" },
  devices: { path: "/devices", name: "Devices" },
  connections: { path: "/connections", name: "Connections" },
  flows: { path: "/flows", name: "Flows" },
  log: { path: "/log", name: "Log" },
} as const;

/** One page. */
export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Shows the sign-out button; the CSRF token of the signed-in browser. */
  readonly csrfToken?: string | undefined;
  /** Shows the navigation, with this part marked. Pages that ask for one decision have none. */
  readonly section?: keyof typeof SECTIONS | undefined;
}

/** Renders a whole document. */
export async function renderPage({ title, body, csrfToken, section }: Page): Promise<string> {
  return String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · svc</title>
<style>${raw(STYLE)}</style>
</head>
<body${section === undefined ? "" : html` class="wide"`}>
${section === undefined ? "" : html`<a class="skip" href="#content">Skip to content</a>`}
<header><a class="brand" href="/">svc</a>${section === undefined ? "" : navigation(section)}${csrfToken === undefined ? "" : signOutForm(csrfToken)}</header>
<main id="content" tabindex="-1">${body}</main>
<footer>This page comes from your own svc service and loads nothing from elsewhere.</footer>
</body>
</html>`,
  );
}

/** A page that says one thing and what to do next. */
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

/** What a redirect says about the step before it; nothing when there was none. */
export function noticeLine(text: string | undefined): Markup {
  return text === undefined ? html`` : html`<p class="notice" role="status">${text}</p>`;
}

function navigation(section: keyof typeof SECTIONS): Markup {
  const entries = Object.entries(SECTIONS).map(
    ([key, { path, name }]) =>
      html`<li><a href="${path}"${key === section ? html` aria-current="page"` : ""}>${name}</a></li>`,
  );
  return html`<nav aria-label="Main"><ul>${entries}</ul></nav>`;
}

function signOutForm(csrfToken: string): Markup {
  return html`<form method="post" action="/sign-out">${csrfField(csrfToken)}<button class="quiet">Sign out</button></form>`;
}
