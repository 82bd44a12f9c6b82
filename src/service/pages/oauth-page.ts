import { html } from "hono/html";
import { csrfField, type Markup, messageBody } from "./page.ts";

/** What each scope lets an app see, in the owner's words. */
const SCOPE_TEXT: Readonly<Record<string, string>> = {
  openid: "know that it speaks for this account",
  email: "read the e-mail address of this account",
  profile: "read the name of this account",
};

/** Where the owner decides about an app that asks for access through OAuth. */
export function oauthApprovalBody(o: {
  id: string;
  /** As the app calls itself. */
  clientName: string | null;
  /** Where the browser is sent afterwards: host, or scheme of an installed app. */
  destination: string;
  isLocal: boolean;
  scopes: readonly string[];
  /** Names of connected apps. */
  apps: readonly string[];
  action: string;
  csrfToken: string;
}): Markup {
  const apps = o.apps.length === 0 ? "none yet" : o.apps.join(", ");
  return html`<section class="card" aria-labelledby="question">
<h1 id="question">Give ${o.clientName ?? "this app"} access?</h1>
<p>An app asks to use your connected apps through MCP. Approve it only if you started this yourself, just now.</p>
<dl>
<dt>App</dt><dd>${o.clientName ?? "No name given"} <span class="muted">(it chose this name itself)</span></dd>
<dt>Sends you to</dt><dd><strong>${o.destination}</strong>${o.isLocal ? html` <span class="muted">(a program on this computer)</span>` : ""}</dd>
<dt>Scopes</dt><dd>${o.scopes.join(", ")}</dd>
</dl>
<h2>What it may do</h2>
<ul>
${o.scopes.map((scope) => (SCOPE_TEXT[scope] === undefined ? "" : html`<li>It may ${SCOPE_TEXT[scope]}.</li>`))}
<li>Read from your connected apps (${apps}) without asking you each time.</li>
<li>Change things there when a call says that a person confirmed it.</li>
<li>It cannot approve devices or apps, sign in here or change your connections.</li>
</ul>
<form method="post" action="${o.action}">
${csrfField(o.csrfToken)}
<div class="actions">
<button class="primary" name="decision" value="approve">Approve</button>
<button class="secondary" name="decision" value="decline">Decline</button>
</div>
</form>
</section>`;
}

/** The request was answered, has ended, or began in another browser. */
export function noOAuthRequestBody(): Markup {
  return messageBody({
    heading: "Nothing to decide here",
    text: "This request was answered already, has ended after 15 minutes, or was started in another browser. Start again in the app.",
  });
}
