import { html, raw } from "hono/html";
import { STYLE } from "./style.ts";

/** Escaped HTML. */
export type Markup = ReturnType<typeof html>;

/** One page. */
export interface Page {
  readonly title: string;
  readonly body: Markup;
  /** Shows the sign-out button; the CSRF token of the signed-in browser. */
  readonly csrfToken?: string | undefined;
}

/** Renders a whole document. */
export async function renderPage({ title, body, csrfToken }: Page): Promise<string> {
  return String(
    await html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · svc</title>
<style>${raw(STYLE)}</style>
</head>
<body>
<header><a href="/">svc</a>${csrfToken === undefined ? "" : signOutForm(csrfToken)}</header>
<main>${body}</main>
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

function signOutForm(csrfToken: string): Markup {
  return html`<form method="post" action="/sign-out">${csrfField(csrfToken)}<button class="quiet">Sign out</button></form>`;
}
