import { html } from "hono/html";
import type { ServiceError } from "../service-error.ts";
import { type Markup, messageBody } from "./page.ts";

const HOW_TO_SIGN_IN = html`<p>In a terminal on the machine that runs the service:</p>
<pre tabindex="0"><code>svc login-link</code></pre>
<p>Add <code>--data FOLDER</code> if the service keeps its data in another folder than the usual one.</p>
<p>Then open the printed link in this browser. It works once, for 10 minutes.</p>`;

/** Asked for a page that only the owner may see. `comesBack` is true when sign-in leads back to it. */
export function notSignedInBody({ comesBack }: { comesBack: boolean }): Markup {
  return messageBody({
    heading: "Sign in first",
    text: comesBack
      ? "Only the owner of this service can decide about a device. After signing in you come back to this request."
      : "This page is for the owner of this service.",
    next: HOW_TO_SIGN_IN,
  });
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

/** A page request that was refused. */
export function refusedBody(error: ServiceError): Markup {
  const headings: Readonly<Record<number, string>> = { 404: "There is no such page", 403: "This was refused" };
  return messageBody({ heading: headings[error.status] ?? "This did not work", text: error.message });
}
