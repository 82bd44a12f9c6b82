import { html } from "hono/html";
import { type Markup, messageBody } from "./page.ts";

const HOW_TO_SIGN_IN = html`<p>In a terminal on the machine that runs the service:</p>
<pre tabindex="0"><code>svc login-link</code></pre>
<p>Add <code>--data FOLDER</code> if the service keeps its data in another folder than the usual one.</p>
<p>Then open the printed link in this browser and press “Sign in”. It works once, for 10 minutes.</p>`;

/**
 * Asked for a page that only the owner may see. `comesBack` is true when sign-in leads back to it; `link` is its address
 * where a signed-in browser gets there by a script, for those that run none.
 */
export function notSignedInBody({ comesBack, link }: { comesBack: boolean; link: string | undefined }): Markup {
  return messageBody({
    heading: "Sign in first",
    text: comesBack
      ? "Only the owner of this service can decide here. After signing in you come back to this page."
      : "This page is for the owner of this service.",
    next: html`${HOW_TO_SIGN_IN}
${
  link === undefined
    ? ""
    : html`<details><summary>This browser is signed in already</summary>
<p>It got here without a script that finds the way. Copy this link and paste it on the home page of your dashboard, at “Open a link”:</p>
<pre tabindex="0"><code>${link}</code></pre></details>`
}`,
  });
}

/** The page of a one-time link, with the button that spends it. */
export function signInBody({ token, next }: { token: string; next: string | undefined }): Markup {
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">Sign in as the owner?</h1>
<p>This browser can then approve devices, connect apps and see what agents did. It stays signed in for 7 days, or until you sign out.</p>
<form method="post" action="/sign-in">
<input type="hidden" name="token" value="${token}">
${next === undefined ? "" : html`<input type="hidden" name="next" value="${next}">`}
<div class="actions"><button class="primary">Sign in</button></div>
</form>
</section>`;
}

/** The one-time link was used, has expired, or never existed. */
export function deadLinkBody(): Markup {
  return messageBody({
    heading: "This sign-in link no longer works",
    text: "A link works once and for 10 minutes. Make a new one.",
    next: HOW_TO_SIGN_IN,
  });
}

/** The browser is signed out. */
export function signedOutBody(): Markup {
  return messageBody({ heading: "Signed out", text: "This browser is no longer signed in.", next: HOW_TO_SIGN_IN });
}
